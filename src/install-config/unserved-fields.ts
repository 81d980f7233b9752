// Fields of openshift-install that Firstlight does not serve, each with the reason a person gets instead of a bare
// "unknown field". A field leaves this table when something honours it.
export const unservedFields: ReadonlyMap<string, string> = new Map([
  ['arbiter', 'there are no arbiter machines; use an odd number of masters'],
  ['bootstrapInPlace', 'a cluster is always bootstrapped from a machine of its own'],
  ['capabilities', 'there are no optional operators to choose from'],
  ['cpuPartitioningMode', 'processors are not partitioned'],
  ['credentialsMode', 'there are no cloud credentials to manage'],
  ['imageContentSources', 'openshift-install retired it; use imageDigestSources'],
  ['operatorPublishingStrategy', 'there is no cloud to publish to'],
  ['pki', 'signers are always EC P-256'],
]);
