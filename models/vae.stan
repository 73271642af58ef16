// A variational auto-encoder of black and white images. The networks are those of networks.py in this folder.
networks {
  matrix decoder(matrix z);
  array[] matrix encoder(array[,] int images);
}
data {
  int<lower=0> N;
  int<lower=1> latent;
  int<lower=1> pixels;
  array[N, pixels] int<lower=0, upper=1> images;
}
parameters {
  matrix[N, latent] z;
}
model {
  matrix[N, pixels] log_odds;
  z ~ normal(0, 1);
  log_odds = decoder(z);
  for (n in 1 : N) images[n] ~ bernoulli_logit(log_odds[n]);
}
guide {
  array[2] matrix[N, latent] encoded = encoder(images);
  matrix[N, latent] centre = encoded[1];
  matrix[N, latent] width = encoded[2];
  z ~ normal(centre, width);
}
