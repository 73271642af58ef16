// Item response theory, two parameters per item: everybody answers every question. Two nested independent loops.
// Birnbaum (1968), in Lord and Novick, "Statistical Theories of Mental Test Scores".
data {
  int<lower=1> people;
  int<lower=1> items;
  array[people, items] int<lower=0, upper=1> correct;
}
parameters {
  vector[people] ability;
  vector[items] difficulty;
  vector<lower=0>[items] discrimination;
}
model {
  ability ~ std_normal();
  difficulty ~ normal(0, 2);
  discrimination ~ lognormal(0, 0.5);
  for (p in 1 : people) {
    for (i in 1 : items) {
      correct[p, i] ~ bernoulli_logit(discrimination[i] * (ability[p] - difficulty[i]));
    }
  }
}
generated quantities {
  array[people] int<lower=0, upper=items> score_rep = rep_array(0, people);
  for (p in 1 : people) {
    for (i in 1 : items) {
      score_rep[p] += bernoulli_logit_rng(discrimination[i] * (ability[p] - difficulty[i]));
    }
  }
}
