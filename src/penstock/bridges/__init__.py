"""Where rows leave for other libraries, and come from them. Only a bridge imports its framework."""
