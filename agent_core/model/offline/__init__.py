"""The parts of the offline model: what is asked, what is known, what is done next. Rules only, no language model."""
