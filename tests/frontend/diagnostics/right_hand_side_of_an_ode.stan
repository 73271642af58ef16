functions {
  vector decay(real t, vector y, array[] real k) {
    return -k[1] * y;
  }
}
parameters {
  real k;
}
model {
  array[1] vector[2] z = ode_rk45(decay, [1, 2]', 0, {1.0}, k);
}
