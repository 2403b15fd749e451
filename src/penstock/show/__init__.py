"""Values as a person reads them: in a terminal, in a notebook."""
