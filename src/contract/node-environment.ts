// node.env: the name and the addresses of this machine, which firstlight-prepare.service finds at every boot. The
// kubelet gets it as an EnvironmentFile and cannot start without it; bootkube and the agent read it too.
export interface NodeEnvironment {
  /** Empty if the file contains no name. */
  readonly name: string;
  /** One per address family, IPv4 first. */
  readonly addresses: readonly string[];
}

/** Without quotes: node names and addresses contain no character that systemd would need quotes for. */
export function nodeEnvironmentText({ name, addresses }: NodeEnvironment): string {
  return `NODE_NAME=${name}\nNODE_IP=${addresses.join(',')}\n`;
}

export function parseNodeEnvironment(text: string): NodeEnvironment {
  const value = (variable: string): string => new RegExp(`^${variable}=(.*)$`, 'm').exec(text)?.[1] ?? '';
  const addresses = value('NODE_IP').split(',');
  return { name: value('NODE_NAME'), addresses: addresses.filter((address) => address !== '') };
}
