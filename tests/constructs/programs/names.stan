// Names that Python, the libraries or the translation use themselves; names that differ in case or underscores.
functions {
  real def(real lambda, real class) {
    real import_ = lambda + class;
    return import_;
  }
  real model_(real x) {
    return 2 * x;
  }
  real None(real self) {
    return self * self;
  }
  real np(real numpy) {
    return numpy + 1;
  }
  real ppl(vector jnp) {
    real fn = 0;
    for (dist in jnp) {
      fn += dist;
    }
    return fn;
  }
  real range(int len) {
    real out = 0;
    for (range_ in 1 : len) {
      out += range_;
    }
    return out;
  }
  real is_lpdf(real yield, real with) {
    return -square(yield - with);
  }
}
data {
  int N;
  int n;
  vector[N] as;
  real try_;
  real data_;
  real inputs;
}
transformed data {
  real global = sum(as) + try_;
  int assert = n + 1;
  real math = 3;
}
parameters {
  real lambda;
  real def_;
  real x;
  real X;
  real x_;
  real key;
  real stan;
  vector[N] class;
  real params;
}
transformed parameters {
  real del = lambda + x - X;
  real guide = x_ * key;
  real sum = def_ + 1;
}
model {
  real async = def(lambda, X);
  real await = model_(x) + None(x_);
  real numpyro = np(key);
  real jax = ppl(class);
  real print_ = range(assert);
  lambda ~ normal(async, 1);
  X ~ is(await);
  real True = numpyro * jax - print_;
  target += True + del * guide + sum + global * x + math + inputs * stan + data_;
  for (i in 1 : N) {
    real nonlocal = class[i];
    target += nonlocal * i;
    real lambda_ = nonlocal + lambda;
    target += lambda_ ^ 2;
  }
  {
    real Lambda = x;
    real LAMBDA = X;
    target += Lambda - 2 * LAMBDA;
  }
  {
    vector[N] Lambda = class;
    target += Lambda[1];
  }
  target += params * 0.5;
}
generated quantities {
  real raise = lambda + X;
  real module = x_ - x;
  real log_density = raise * module;
  array[2] real from = {raise, module};
  real np_ = np(key);
}
