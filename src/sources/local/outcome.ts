/**
 * The counter that hits of local names add to. Those of the cluster's names and of cached answers have others.
 */
export const LOCAL_OUTCOME = 9;
