model {
  /* what follows
}
