// Escapes from loops, with bounds and conditions that depend on data and on parameters.
functions {
  real first_root(real a, real tolerance, int limit) {
    real guess = 1;
    for (n in 1 : limit) {
      real next = 0.5 * (guess + a / guess);
      if (abs(next - guess) < tolerance) {
        return next;
      }
      guess = next;
    }
    return guess;
  }
  real nested_return(matrix m, real bound) {
    for (i in 1 : rows(m)) {
      for (j in 1 : cols(m)) {
        if (m[i, j] < 0) {
          continue;
        }
        if (m[i, j] > bound) {
          return m[i, j] * 10 + i;
        }
      }
    }
    return -bound;
  }
  int halvings(real a) {
    real b = abs(a);
    int n = 0;
    while (b > 0.1) {
      b /= 2;
      n += 1;
    }
    return n;
  }
  vector grown(vector v, real t) {
    vector[size(v)] out = v;
    int n = 1;
    while (n <= size(v)) {
      if (v[n] > t) {
        out[n] = v[n] * 2;
        n += 1;
        continue;
      }
      out[n] -= 1;
      if (out[n] < -3) {
        break;
      }
      n += 1;
    }
    return out;
  }
  real or_reject(real a) {
    if (a > 1e6) {
      reject("too large: ", a);
    } else {
      return a + 1;
    }
  }
}
data {
  int N;
  array[N] int k;
  vector[N] y;
}
transformed data {
  int kept = 0;
  for (n in 1 : N) {
    if (k[n] == 0) {
      continue;
    }
    if (k[n] > 4) {
      break;
    }
    kept += k[n];
  }
}
parameters {
  real a;
  vector[N] x;
  matrix[2, 3] m;
}
model {
  for (n in 1 : N) {
    if (k[n] == 2) {
      continue;
    }
    x[n] ~ normal(y[n], 1 + square(a));
    if (k[n] == 5) {
      break;
    }
  }
  for (n in 1 : N) {
    if (x[n] < a) {
      continue;
    }
    target += x[n] * n;
    if (x[n] > a + 1) {
      break;
    }
  }
  int steps = halvings(a * 8);
  for (n in 1 : steps) {
    target += log(n) * a;
  }
  target += first_root(1 + square(a), 1e-3, 20) + nested_return(m, a) + or_reject(a);
  real u = abs(a) + 0.1;
  while (1) {
    u *= 1.5;
    if (u > 4) {
      break;
    }
    if (u > 2) {
      continue;
    }
    target += u;
  }
  target += u;
  for (v in to_vector(m)) {
    if (v > 1) {
      break;
    }
    target += v;
  }
  for (i in 1 : 2) {
    for (j in i : 3) {
      if (m[i, j] > 0.5) {
        break;
      }
      for (l in 1 : k[j]) {
        target += m[i, j] * l;
      }
    }
    target += a * i;
  }
  {
    int n = 1;
    real total = 0;
    while (n < N && total < a) {
      total += abs(x[n]);
      n += 1;
    }
    target += total * n;
  }
  if (a > 0) {
    if (x[1] > 0) {
      target += 1;
    } else if (x[2] > 0) {
      target += 2 * x[2];
    } else {
      target += 3;
    }
  } else {
    target += x[1] > 0 ? x[2] > 0 ? 5 * a : 6 * a : 7 * a;
  }
  for (n in 1 : 0) {
    target += 1000;
  }
  for (n in 5 : steps) {
    target += 0.25 * n;
  }
  target += sum(grown(x, a)) + kept * a;
}
generated quantities {
  vector[N] bigger = grown(x, 0.5);
  int count = halvings(x[1]);
  real root = first_root(2, 1e-9, 50);
}
