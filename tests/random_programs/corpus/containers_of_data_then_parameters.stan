data { matrix[2,2] D; }
parameters { real x; }
model { real m = inv_logit(1e-2); vector[2] u = [0.1,0.2]'; array[2] real z = {1.0,2.0};
  for (i in 1:2) { target += sum([m] * [[D[1,1], x]]); target += (rep_row_vector(m, 2) * [x, m]'); target += sum(m * u + to_vector(z));
    vector[2] w = [m, m]'; w[2] += x; target += sum(x * w);
    for (h in {[m, m]', [m, m]'}) target += sum(x * h) + sum(h / x); 
    target += sum([[m, m]] * [[x, x],[x, x]]) + sum(diag_matrix([m, m]') * [x, x]') + sum([x, x] * diag_matrix([m, m]')) + [m, m] * u + sum([m,m]' / x) + sum(-[m,m]) + sum([m,m] * x) + sum(to_vector({m,m}) * x + 2);
  m = x; u = [x, 2]'; z[1] = x; }
 }
