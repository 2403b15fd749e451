"""penstock's answers, by its public interface only."""
