"""The paper's schemes: from the typed program to GProb."""
