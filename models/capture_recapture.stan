// Marked animals, seen again or not on later occasions: a Cormack-Jolly-Seber model with a survival probability for each
// interval. Whether an animal is alive is a discrete parameter, known up to the last time that it was seen.
data {
  int<lower=1> animals;
  int<lower=2> occasions;
  array[animals, occasions] int<lower=0, upper=1> seen;
}
transformed data {
  array[animals] int first; // when it was marked
  array[animals, occasions] int known; // 1 up to the last sighting
  for (i in 1 : animals) {
    int last = 1;
    first[i] = 0;
    for (t in 1 : occasions) {
      if (seen[i, t] == 1) {
        last = t;
        if (first[i] == 0) {
          first[i] = t;
        }
      }
    }
    for (t in 1 : occasions) {
      known[i, t] = t <= last;
    }
  }
}
parameters {
  vector<lower=0, upper=1>[occasions - 1] survival;
  real<lower=0, upper=1> sighting;
  array[animals, occasions] int<lower=known, upper=1> alive;
}
model {
  for (i in 1 : animals) {
    for (t in (first[i] + 1) : occasions) {
      alive[i, t] ~ bernoulli(alive[i, t - 1] * survival[t - 1]);
      seen[i, t] ~ bernoulli(alive[i, t] * sighting);
    }
  }
}
generated quantities {
  int survivors = 0; // of the marked animals, after the last occasion
  for (i in 1 : animals) {
    survivors += alive[i, occasions];
  }
}
