// node.env: the name and the addresses of this machine, as firstlight-prepare.service found them at this boot. systemd
// gives it to the kubelet as an EnvironmentFile; bootkube and the agent read it. Its presence lets the kubelet start.
export interface NodeEnvironment {
  /** Empty where the file does not say. */
  readonly name: string;
  /** One per address family, IPv4 first. */
  readonly addresses: readonly string[];
}

/** Node names and addresses hold nothing that systemd would need quotes for. */
export function nodeEnvironmentText({ name, addresses }: NodeEnvironment): string {
  return `NODE_NAME=${name}\nNODE_IP=${addresses.join(',')}\n`;
}

export function parseNodeEnvironment(text: string): NodeEnvironment {
  const value = (variable: string): string => new RegExp(`^${variable}=(.*)$`, 'm').exec(text)?.[1] ?? '';
  const addresses = value('NODE_IP').split(',');
  return { name: value('NODE_NAME'), addresses: addresses.filter((address) => address !== '') };
}
