// Decides on a kubelet's certificate request: a pure function of the request and the facts. It approves a request that
// it can explain in full and leaves every other pending with the reason; it never denies, because a person may know
// more.
import ipaddr from 'ipaddr.js';
import { hasAddress, isOutside, isSameAddress } from '../contract/addresses.ts';
import type { InventoryMachine } from '../contract/inventory.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import { publicKeyDigest } from '../pki/key.ts';
import { readSigningRequest, type SigningRequest } from '../pki/signing-request.ts';
import { type BootstrapToken, bootstrapperGroup, type TokenUse } from './bootstrap-token-secret.ts';
import {
  type CertificateRequest,
  isDecided,
  kubeletClientSigner,
  kubeletServingSigner,
  requestPem,
} from './certificate-request.ts';
import type { JoinFacts, KnownNode } from './join-facts.ts';
import { tokenIdOf } from './triage-requests.ts';

export type RequestDecision =
  | {
      readonly outcome: 'approve';
      readonly nodeName: string;
      readonly reason: string;
      /** The token that it takes, and for which key; a serving certificate takes none. */
      readonly takes?: { readonly token: BootstrapToken; readonly keyDigest: string };
    }
  | { readonly outcome: 'leave-pending'; readonly reason: string }
  /** For another approver, or decided already. */
  | { readonly outcome: 'not-ours' };

/** For so long a node name is reserved for the machine whose request was approved and which has not registered yet. */
const promiseMs = 10 * 60_000;
const expirationSecondsMin = 600;
const expirationSecondsMax = 366 * 86_400;

export function decideRequest(request: CertificateRequest, facts: JoinFacts): RequestDecision {
  const { spec } = request;
  const isServing = spec.signerName === kubeletServingSigner;
  if (isDecided(request) || (!isServing && spec.signerName !== kubeletClientSigner)) return { outcome: 'not-ours' };
  // The controller manager's approver handles nodes that renew their own client certificate.
  if (!isServing && spec.username.startsWith('system:node:')) return { outcome: 'not-ours' };
  try {
    const asked = readRequest(request);
    const nodeName = checkedNodeName(asked);
    checkForm(request, asked, isServing);
    return isServing
      ? decideServing(request, { asked, nodeName, facts })
      : decideFirstClient(request, { asked, nodeName, facts });
  } catch (error) {
    if (error instanceof Doubt) return { outcome: 'leave-pending', reason: printable(error.message) };
    throw error;
  }
}

/** A reason quotes text of unknown clients, and is shown on terminals. */
function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '�');
}

/** The reason why a request is not approved. */
class Doubt extends Error {}

function doubtIf(holds: boolean, reason: string): void {
  if (holds) throw new Doubt(reason);
}

function readRequest(request: CertificateRequest): SigningRequest {
  try {
    return readSigningRequest(requestPem(request));
  } catch (error) {
    if (error instanceof FirstlightError) throw new Doubt(error.message);
    throw error;
  }
}

function checkedNodeName({ subject }: SigningRequest): string {
  const { commonName } = subject;
  const name = commonName.startsWith('system:node:') ? commonName.slice('system:node:'.length) : '';
  // The node will be an object of the API, so it needs a valid object name.
  const isName = name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
  // As a DNS name it would be taken for an address by some clients.
  doubtIf(ipaddr.IPv4.isValidFourPartDecimal(name), `its node name ${name} is an address`);
  doubtIf(!isName, `its common name ${JSON.stringify(commonName)} is not system:node: and a node name`);
  return name;
}

function checkForm({ spec }: CertificateRequest, asked: SigningRequest, isServing: boolean): void {
  const [oddity] = asked.oddities;
  doubtIf(oddity !== undefined, `it contains what an honest request does not: ${oddity?.detail ?? ''}`);
  const { organizations } = asked.subject;
  const isNodes = organizations.length === 1 && organizations[0] === 'system:nodes';
  doubtIf(!isNodes, `its organizations are ${list(organizations)}, not exactly system:nodes`);
  const names = [...asked.dnsNames, ...asked.ipAddresses];
  doubtIf(
    !isServing && names.length > 0,
    `a client certificate has no alternative names, and it asks for ${list(names)}`,
  );
  const usages = new Set(spec.usages);
  const allowed = ['digital signature', isServing ? 'server auth' : 'client auth'];
  const isExact = allowed.every((usage) => usages.has(usage)) && isSubset(usages, [...allowed, 'key encipherment']);
  doubtIf(!isExact, `its usages are ${list(spec.usages)}, not ${list(allowed)}`);
  const seconds = spec.expirationSeconds;
  const isOddLife = seconds !== undefined && (seconds < expirationSecondsMin || seconds > expirationSecondsMax);
  doubtIf(isOddLife, `it asks for ${seconds} s, outside ${expirationSecondsMin} to ${expirationSecondsMax} s`);
}

function decideFirstClient(
  { spec, metadata }: CertificateRequest,
  { asked, nodeName, facts }: { readonly asked: SigningRequest; readonly nodeName: string; readonly facts: JoinFacts },
): RequestDecision {
  const id = tokenIdOf(spec.username);
  doubtIf(id === undefined, `${spec.username} does not ask with a bootstrap token`);
  doubtIf(!spec.groups.includes(bootstrapperGroup), `${spec.username} is not in the group ${bootstrapperGroup}`);
  const token = facts.tokens.find((known) => known.id === id);
  if (token === undefined) throw new Doubt(`the token ${id} is not one that a config server of firstlight issued`);
  const { used } = token;
  const keyDigest = publicKeyDigest(asked.publicPem);
  doubtIf(
    used !== undefined && !isSameJoin(used, { uid: metadata.uid, nodeName, keyDigest }),
    `the token ${id} was used before, by ${used?.by ?? ''} at ${used?.at.toISOString() ?? ''}`,
  );
  doubtIf(facts.now >= token.expiresAt, `the token ${id} expired at ${token.expiresAt.toISOString()}`);
  const live = facts.nodes.find((node) => node.name === nodeName && node.isLive);
  doubtIf(
    live !== undefined && !joinsAgain(live, token),
    `a live node is called ${nodeName} already${live?.isClaimed === true ? ', and its token is of another address' : ''}`,
  );
  checkPromises(token, nodeName, facts);
  checkAddressLimit(token, nodeName, facts);
  checkExpected(token, nodeName, facts);
  return {
    outcome: 'approve',
    nodeName,
    takes: { token, keyDigest },
    reason: `token ${id} of the pool ${token.pool}, ${used === undefined ? 'used for the first time' : 'asked again by the machine that used it'}`,
  };
}

/**
 * The machine of a node that an in-place attempt works on asks for a certificate anew, while the node still counts as
 * live. Where it is known to which address the token was given, it has to be one of that node.
 */
function joinsAgain({ isClaimed, addresses }: KnownNode, { issuedToAddress }: BootstrapToken): boolean {
  return isClaimed && (issuedToAddress === undefined || hasAddress(addresses, issuedToAddress));
}

/**
 * The request that took the token, or a later one by the same key: an agent keeps its key until it has its certificate,
 * so a machine whose answer was lost asks again with that key, and whoever stole the token has another. Where an older
 * approver recorded no key, only the request itself counts.
 */
function isSameJoin(
  used: TokenUse,
  {
    uid,
    nodeName,
    keyDigest,
  }: { readonly uid: string | undefined; readonly nodeName: string; readonly keyDigest: string },
): boolean {
  return used.by === nodeName && (used.requestUid === uid || used.keyDigest === keyDigest);
}

/** Two tokens for one name: the one that was approved first has it, until its node registers or the time is over. */
function checkPromises(token: BootstrapToken, nodeName: string, facts: JoinFacts): void {
  const isDead = facts.nodes.some((node) => node.name === nodeName && !node.isLive);
  const promised = facts.tokens.find(
    ({ id, used }) =>
      id !== token.id && used?.by === nodeName && facts.now.getTime() - used.at.getTime() < promiseMs && !isDead,
  );
  doubtIf(
    promised !== undefined,
    `${nodeName} was promised to token ${promised?.id ?? ''} at ${promised?.used?.at.toISOString() ?? ''}, and has not registered yet`,
  );
}

/**
 * A machine is one node. Where the inventory is open, a machine that shows a pool token again and again must not become
 * as many nodes as it likes: it gets no second name while its first one lives or is promised.
 */
function checkAddressLimit({ issuedToAddress }: BootstrapToken, nodeName: string, facts: JoinFacts): void {
  if (issuedToAddress === undefined || facts.inventory.isClosed) return;
  const living = facts.nodes.find(
    ({ name, isLive, addresses }) => name !== nodeName && isLive && hasAddress(addresses, issuedToAddress),
  );
  doubtIf(living !== undefined, `it asks from ${issuedToAddress}, the address of the live node ${living?.name ?? ''}`);
  const promised = facts.tokens.find(
    ({ issuedToAddress: other, used }) =>
      other !== undefined &&
      used !== undefined &&
      used.by !== nodeName &&
      isSameAddress(other, issuedToAddress) &&
      facts.now.getTime() - used.at.getTime() < promiseMs,
  );
  doubtIf(
    promised !== undefined,
    `it asks from ${issuedToAddress}, which became ${promised?.used?.by ?? ''} at ${promised?.used?.at.toISOString() ?? ''}`,
  );
}

function checkExpected(token: BootstrapToken, nodeName: string, { inventory }: JoinFacts): void {
  const machine = inventory.machines.find(({ name }) => name === nodeName);
  doubtIf(machine === undefined && inventory.isClosed, `${nodeName} is not in the inventory`);
  if (machine === undefined) return;
  const role = token.pool === 'master' ? 'master' : 'worker';
  doubtIf(
    machine.role !== role,
    `${nodeName} is a ${machine.role}, but token ${token.id} is of the pool ${token.pool}`,
  );
  const from = token.issuedToAddress;
  const isElsewhere = from !== undefined && !hasAddress(machine.addresses, from);
  doubtIf(isElsewhere, `token ${token.id} was given to ${from ?? ''}, which is not an address of ${nodeName}`);
}

function decideServing(
  { spec }: CertificateRequest,
  { asked, nodeName, facts }: { readonly asked: SigningRequest; readonly nodeName: string; readonly facts: JoinFacts },
): RequestDecision {
  doubtIf(
    spec.username !== asked.subject.commonName,
    `${spec.username} asks for a certificate of ${asked.subject.commonName}`,
  );
  doubtIf(!spec.groups.includes('system:nodes'), `${spec.username} is not in the group system:nodes`);
  doubtIf(asked.dnsNames.length + asked.ipAddresses.length === 0, 'it names neither a DNS name nor an address');
  const foreign = asked.dnsNames.find((name) => name !== nodeName);
  doubtIf(foreign !== undefined, `it asks for the DNS name ${foreign ?? ''}, which is not that of the node`);
  const machine = facts.inventory.machines.find(({ name }) => name === nodeName);
  doubtIf(machine === undefined && facts.inventory.isClosed, `${nodeName} is not in the inventory`);
  for (const address of asked.ipAddresses) checkAddress(address, { nodeName, machine, facts });
  return { outcome: 'approve', nodeName, reason: 'asked by the node itself, for its own name and addresses' };
}

/**
 * A machine of the inventory has the addresses listed there. For any other its node's own report counts, in the machine
 * networks; of two nodes that report one address, the older one has it, so that a newcomer takes none away.
 */
function checkAddress(
  address: string,
  known: { readonly nodeName: string; readonly machine: InventoryMachine | undefined; readonly facts: JoinFacts },
): void {
  const { nodeName, machine, facts } = known;
  const range = ipaddr.process(address).range();
  doubtIf(unassignableRanges.has(range), `it asks for ${address}, a ${range} address`);
  doubtIf(hasAddress(facts.virtualAddresses, address), `it asks for ${address}, which moves between machines`);
  const own = machine?.addresses ?? facts.nodes.find(({ name }) => name === nodeName)?.addresses ?? [];
  const where = machine === undefined ? 'that the node reports' : 'of the inventory';
  doubtIf(!hasAddress(own, address), `it asks for ${address}, which is not among the addresses ${where}: ${list(own)}`);
  const { machineNetworks } = facts;
  doubtIf(
    machine === undefined && isOutside(address, machineNetworks),
    `it asks for ${address}, which is not in the machine network ${machineNetworks.join(', ')}`,
  );
  const other =
    facts.inventory.machines.find(({ name, addresses }) => name !== nodeName && hasAddress(addresses, address)) ??
    (machine === undefined
      ? olderNodes(nodeName, facts).find(({ addresses }) => hasAddress(addresses, address))
      : undefined);
  doubtIf(other !== undefined, `it asks for ${address}, which belongs to ${other?.name ?? ''}`);
}

function olderNodes(nodeName: string, { nodes }: JoinFacts): readonly KnownNode[] {
  const self = nodes.find(({ name }) => name === nodeName);
  const bornMs = self?.createdAt.getTime() ?? Number.POSITIVE_INFINITY;
  return nodes.filter(
    ({ name, createdAt }) =>
      name !== nodeName && (createdAt.getTime() < bornMs || (createdAt.getTime() === bornMs && name < nodeName)),
  );
}

const unassignableRanges = new Set<string>(['loopback', 'linkLocal', 'unspecified', 'multicast', 'broadcast']);

function isSubset(values: ReadonlySet<string>, of: readonly string[]): boolean {
  return [...values].every((value) => of.includes(value));
}

function list(values: readonly string[]): string {
  return values.length === 0 ? 'none' : values.map((value) => JSON.stringify(value)).join(', ');
}
