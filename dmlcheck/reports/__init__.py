"""Reports: what happened, written for people and for programs. They take results and decide nothing."""
