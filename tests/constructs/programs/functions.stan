// User functions: overloads, recursion, forward declarations, densities, functions that add to the target.
functions {
  int odd(int n);
  int even(int n) {
    return n == 0 ? 1 : odd(n - 1);
  }
  int odd(int n) {
    return n == 0 ? 0 : even(n - 1);
  }
  real horner(vector c, real x, int n);
  real horner(vector c, real x, int n) {
    if (n == size(c)) {
      return c[n];
    }
    return c[n] + x * horner(c, x, n + 1);
  }
  real area(int a) {
    return a;
  }
  real area(real a) {
    return 2 * a;
  }
  real area(vector a) {
    return 3 * sum(a);
  }
  real area(array[] real a) {
    return 4 * sum(a);
  }
  real area(real a, int b) {
    return 5 * a + b;
  }
  matrix outer(vector a, row_vector b) {
    matrix[rows(a), cols(b)] out = a * b;
    out[1, 1] = 0;
    return out;
  }
  array[,] real table(array[] real a, int n) {
    array[n, size(a)] real out;
    for (i in 1 : n) {
      for (j in 1 : size(a)) {
        out[i, j] = a[j] ^ i;
      }
    }
    return out;
  }
  real tilted_lpdf(vector y, real m) {
    return -sum(square(y - m)) + normal_lupdf(y | m, 2);
  }
  real tilted_lpdf(real y, real m) {
    return -abs(y - m);
  }
  real coin_lpmf(int y, real p) {
    return y == 1 ? log_inv_logit(p) : log1m_inv_logit(p);
  }
  real coin_lpmf(array[] int y, real p) {
    real out = 0;
    for (v in y) {
      out += coin_lpmf(v | p);
    }
    return out;
  }
  real unit_lpdf(real y) {
    return -cosh(y);
  }
  void add_lp(real a) {
    target += a;
  }
  real scaled_lp(real a, int n) {
    for (i in 1 : n) {
      if (a > i * 0.1) {
        add_lp(a * i);
        continue;
      }
      a_prior_lp(a, i);
      if (i > 3) {
        return 10 * a;
      }
    }
    target += a * 0.01;
    return a * 2;
  }
  void a_prior_lp(real a, int i) {
    target += normal_lpdf(a | i, 2);
  }
  void priors_lp(vector v, real s) {
    for (n in 1 : size(v)) {
      v[n] ~ normal(s, 2);
    }
    s ~ cauchy(0, 1);
  }
  real data_only(data vector v, real a) {
    vector[size(v)] w = v;
    w[1] = 5;
    return sum(w) * a;
  }
  vector twice(vector v) {
    return 2 * v;
  }
  void check_it(real a) {
    if (a > 1e10) {
      reject("a is ", a);
    }
    if (a > -1e10) {
      return;
    }
    print("a is small: ", a);
  }
}
data {
  int N;
  vector[N] y;
  array[N] int<lower=0, upper=1> k;
}
transformed data {
  real shadow = area(2) + area(2.5) + area({1, 2}) + even(10) + odd(7);
  vector[N] doubled = twice(y);
}
parameters {
  real a;
  vector[N] x;
}
transformed parameters {
  real h = horner(x, a, 1);
}
model {
  real twice = 3;
  target += h + shadow * a + twice * area(x) + area(a) + area(a, 3) + area(1) + area({a, a, 1});
  target += sum(outer(x, doubled')) + table({a, x[1]}, 3)[2, 1] + table({a, 2}, 3)[3, 2];
  x ~ tilted(a);
  a ~ tilted(1);
  target += tilted_lpdf(x[1] | a) + tilted_lupdf(y | x[2]);
  k ~ coin(a);
  k[1] ~ coin(x[1]);
  target += coin_lpmf(k[2] | x[2]) + coin_lupmf(k | x[1]);
  a ~ unit();
  target += unit_lpdf(x[1]);
  real got = scaled_lp(a, 6) + scaled_lp(0.35, 4);
  target += got;
  if (a > 0) {
    add_lp(x[1]);
  }
  for (n in 1 : N) {
    if (x[n] > 0) {
      target += n * scaled_lp(x[n], n);
    }
  }
  check_it(a);
  priors_lp(x, a);
  target += data_only(y, a);
}
generated quantities {
  real area_of = area(a) + area(1);
  array[2, 2] real tabled = table({a, 3}, 2);
  matrix[N, N] product = outer(x, x');
  real density = tilted_lpdf(x | a);
}
