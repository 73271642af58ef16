data { vector[2] v; vector<lower=0>[2] w; }
parameters { real a; vector<lower=v, upper=v + exp(a)>[2] p; vector<lower=-9 - a^2, upper=v>[2] q; vector<lower=v>[2] h; }
transformed parameters { vector<lower=v - 100, upper=p + 100>[2] t = v; vector<lower=v - 100>[2] u = p; }
model { p ~ normal(v, w); q ~ normal(a, w); h ~ normal(v, w); a ~ normal(0, 1); }
