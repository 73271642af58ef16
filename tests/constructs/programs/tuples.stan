// Tuples everywhere: parameters, arguments, results, nested, in arrays, unpacked, promoted.
functions {
  tuple(real, vector) moments(vector v, data array[] int use) {
    real total = 0;
    for (k in use) {
      total += v[k];
    }
    return (total / size(use), v - total / size(use));
  }
  real weigh(tuple(real, tuple(int, vector)) t) {
    return t.1 * t.2.1 + sum(t.2.2);
  }
  tuple(int, real) first_above(vector v, real bound) {
    for (n in 1 : size(v)) {
      if (v[n] > bound) {
        return (n, v[n]);
      }
    }
    return (0, bound);
  }
  array[] tuple(real, int) pairs(vector v) {
    array[size(v)] tuple(real, int) out;
    for (n in 1 : size(v)) {
      out[n] = (v[n] * n, n);
    }
    return out;
  }
}
data {
  int<lower=1> N;
  tuple(int, vector[N]) given;
  array[2] tuple(real, array[2] int) groups;
}
transformed data {
  tuple(vector[N], matrix[2, 2]) made = (given.2 * given.1, [[1, 2], [3, groups[2].1]]);
  array[2] int use = groups[1].2;
  tuple(real, complex) promoted = (1, 2);
}
parameters {
  vector[N] x;
  tuple(real, vector[2]) p;
  array[2] tuple(real, real) q;
}
transformed parameters {
  tuple(real, vector[N]) m = moments(x, use);
  array[2] tuple(real, real) swapped;
  for (k in 1 : 2) {
    (swapped[k].2, swapped[k].1) = q[k];
  }
}
model {
  tuple(real, tuple(int, vector[2])) nested = (p.1, (3, p.2 * 2));
  real a;
  vector[N] b;
  array[3] real c = rep_array(0.5, 3);
  (a, b) = m;
  target += a - dot_self(b);
  real e = 1;
  (c[2], e) = (c[1] + p.1, c[3] * q[2].1 + e);
  target += e - 2 * c[2];
  target += weigh(nested);
  tuple(real, tuple(int, vector[2])) t = nested;
  t.2.2[1] = 10 * q[1].2;
  t.1 *= 2;
  t.2.1 += 1;
  target += weigh(t) - 0.5 * nested.2.2[1];
  array[N] tuple(real, int) list = pairs(x);
  list[2].1 -= 4;
  for (item in list) {
    target += item.1 / item.2;
  }
  tuple(int, real) found = first_above(x, p.1);
  target += found.1 + 3 * found.2;
  p.2 ~ normal(given.2[1 : 2], 1 + square(swapped[1].1));
  target += (x[1] > 0 ? (x[1], x[2]) : (x[2], x[1])).1;
  target += get_real(promoted.2) * made.2[2, 2] * made.1[2];
}
generated quantities {
  tuple(int, real) where = first_above(x, 0);
  array[N] tuple(real, int) listed = pairs(x);
  real weight = weigh((1, (2, x)));
}
