// Complex numbers: scalars, vectors and matrices, promotions, indexing, functions.
functions {
  complex rotate(complex z, real angle) {
    return z * exp(1i * angle);
  }
  complex_vector powers(complex z, int n) {
    complex_vector[n] out;
    out[1] = 1;
    for (k in 2 : n) {
      out[k] = out[k - 1] * z;
    }
    return out;
  }
  real energy(complex_matrix m) {
    real out = 0;
    for (i in 1 : rows(m)) {
      for (j in 1 : cols(m)) {
        out += norm(m[i, j]);
      }
    }
    return out;
  }
}
data {
  complex c;
  complex_vector[3] cv;
}
transformed data {
  complex_matrix[2, 2] fixed = [[c, 1], [2i, conj(c)]];
  array[2] complex pair = {c, 3};
}
parameters {
  real a;
  real b;
  vector[3] v;
  complex w;
}
transformed parameters {
  complex z = to_complex(a, b);
  complex_vector[3] zs = powers(z, 3);
}
model {
  complex r = rotate(z, a);
  target += get_real(r) - 2 * get_imag(r);
  target += abs(z + 1) + arg(z * c) + norm(w);
  complex_row_vector[3] row = zs';
  target += get_real(sum(row .* cv'));
  complex_matrix[2, 2] m = fixed;
  m[1, 2] += z;
  m[2] = [w, z];
  m[ : , 1] *= 2;
  target += energy(m * fixed) / 50;
  target += get_imag(to_complex(v, 2)[2] * 1i);
  complex s = sqrt(z) + log(w) + z ^ 2 + pow(z, w) + cosh(z) / (1 + w);
  target += get_real(s) + get_imag(s);
  if (z == w) {
    target += 100;
  }
  if (z != w) {
    target += 1;
  }
  target += get_real(polar(exp(a), b)) + get_real(-z) + get_real(+z) + get_real(proj(z)) + get_imag(conj(w));
  target += sum(get_real(fft(to_complex(v, 0)))) + abs(inv_fft(cv)[2]) + get_real(dot_product(zs, cv));
  complex promoted = a;
  promoted *= 2i;
  target += get_imag(promoted) - 0.5 * (square(a) + square(b) + dot_self(v));
  target += get_imag(to_complex(a, 1) * pair[1]);
}
generated quantities {
  complex out = rotate(w, 1) / z;
  complex_matrix[2, 3] grid;
  for (i in 1 : 2) {
    grid[i] = zs' * i;
  }
  real size_of = abs(out);
}
