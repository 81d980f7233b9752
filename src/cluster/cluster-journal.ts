// The memory of `create cluster`, below the asset folder. `destroy cluster` removes it first: what it says about a
// cluster that is gone must not be believed of the next one.
export const clusterJournalPath = '.firstlight/cluster-journal';
