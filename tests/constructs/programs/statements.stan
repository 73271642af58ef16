// Operators and compound assignments, local blocks, conditions, profile, print, target().
functions {
  real count_up(array[] int v) {
    int s = 0;
    for (i in v) {
      s += i;
      s *= 2;
      s -= 1;
    }
    return s;
  }
}
data {
  int N;
  int M;
  array[N] int v;
  matrix[N, N] A;
}
transformed data {
  int q = N %/% 2 + M % 3 - M / 2;
  int flag = N > 2 && M < 10 || !(N == 3);
  array[2, N] int grid = {v, v};
  real third = 1.0 / 3;
  print("N is ", N, " and v ", v);
  profile("setup") {
    int unused = N;
    grid[2, 1] += unused;
  }
}
parameters {
  real a;
  vector[N] x;
  matrix[N, N] m;
}
model {
  vector[N] y = x;
  y += 1;
  y -= x * 0.5;
  y *= 2;
  y /= 1 + square(a);
  y .*= x;
  y ./= 1 + square(x);
  target += sum(y);
  row_vector[N] r = x';
  r *= A;
  target += r * x;
  matrix[N, N] s = A;
  s *= m;
  s += A';
  s .*= m;
  s ./= 2 + A;
  target += sum(s) + trace(m * A) - sum(A \ x) + sum(r / A) + sum(m .^ 2) + sum(2 ^ x) + a ^ 2 ^ 0.5;
  target += -a ^ 2 + (-a) ^ 2 - +a + !flag + (a > 0) + (a >= 1) * 2 + (a < 3 && x[1] > 0) + (a == a) + (a != 1);
  target += quad_form(A, x) + x' * A * x + dot_product(x, y) + sum(x .* y) + sum(m ./ (1 + square(m))) + (x')[1];
  real t = target();
  target += 0.1 * t;
  {
    real w = a;
    {
      real z = w * 2;
      target += z;
    }
    {
      vector[2] z = [w, 1]';
      target += z[1] - z[2];
    }
  }
  profile("likelihood") {
    real inside = a * 2;
    target += inside;
    x ~ normal(inside, 1);
  }
  target += {a, 2.5, x[1]};
  target += [a, 1];
  target += m;
  target += 3;
  target += {x, y};
  if (q) {
    target += q * a;
  } else
    target += 1;
  if (M > 100) reject("never: ", M);
  if (a > 1e10) reject("never: ", a);
  print("a is ", a, " x is ", x);
  ;
  array[2, 2] vector[N] deep = rep_array(x, 2, 2);
  deep[2, 1] *= 3;
  deep[1, 2, 1] ^ 2 ~ normal(0, 1);
  target += sum(deep[2, 1]) * third + count_up(v) + sum(grid[2]) + (M > 3 ? a : x[1]) + (a > 0 ? 1 : 2.5);
  target += int_step(a) + fmax(a, 0.5);
}
generated quantities {
  int whole = 17 %/% 5 + 17 % 5 + (-17) %/% 5 + (-17) % 5;
  real powers = 2 ^ 3 ^ 2 + 2 ^ -1 - 2 ^ 2;
  array[N] real copied = to_array_1d(x);
  vector[N] solved = A \ x;
  real many = 1 - 2 - 3 * 4 / 5.0 * 2;
}
