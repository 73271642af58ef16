import sys
from tests.random_programs.choices import numbered
from tests.random_programs.program import program
from tests.random_programs.trial import points
from tests.random_programs.referee.walk import Walker
from tests.random_programs.referee.stan import Stan
n=f"{sys.argv[1]}-{sys.argv[2]}"; p=program(numbered(int(sys.argv[1]),int(sys.argv[2])), wild=len(sys.argv)>3)
w=Walker(p.text,p.data)
for x in points(w.size,n): o=w.at(x); print(o.log_density, o.rejected, o.values is None)
try:
    s=Stan(p.stan_text,p.data); print([ (s.at(x).log_density, s.at(x).rejected) for x in points(s.size,n)], s.has_variables)
except Exception as e: print(e)
