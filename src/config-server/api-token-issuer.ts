// Single-use tokens as Secrets of the API, for the config servers of masters. Every one of them may be asked about a
// token that another one issued. A watch tells which tokens there are, so that a stranger's guess costs no request to
// the API; keys are given only after the token was read there and what was given is written by compare-and-set.
import { digestToken, isBootstrapToken, tokenId } from '../admission/bootstrap-token.ts';
import {
  findWholeToken,
  type IssuedToken,
  issueBootstrapToken,
  readWholeToken,
  recordKeysGiven,
  secretKind,
  tokenSelection,
  type WholeToken,
} from '../admission/bootstrap-token-secret.ts';
import { knownNode } from '../admission/join-facts.ts';
import { announceKeysGiven, type KeysAnnouncement } from '../admission/keys-event.ts';
import { type KeysRecipient, keysRecipient } from '../admission/keys-recipient.ts';
import { nodeKind } from '../admission/node-roles.ts';
import { inventoryConfigMap, inventoryKey } from '../contract/cluster-objects.ts';
import { readInventory } from '../contract/inventory.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { watchObjects } from '../kubernetes/watch.ts';
import type { Issued, IssueRequest, KeysRequest, KeysVerdict, KnownToken, TokenIssuer } from './token-issuer.ts';
import { judgeKeysRequest } from './token-issuer.ts';
import { type CountedToken, TokenQuota } from './token-quota.ts';

/** Every token is an object in etcd until its machine has joined, so there may be fewer than in a ledger file. */
export const apiTokenLimit = 5_000;

/** Less than ten seconds, when Ignition gives up a request. */
const callMs = 7_000;
const attempts = 5;
const announceMs = 2_000;

/** A token that was issued here is counted for this long even if the watch does not show it. */
const youngMs = callMs + 5_000;
/** What other servers issued is counted again after this time. */
const recountMs = 250;

interface YoungToken extends CountedToken {
  id: string | undefined;
  readonly untilMs: number;
}

export interface ApiTokenIssuerOptions {
  readonly client: KubernetesClient;
  readonly limit: number;
  /** Called for every failure of the watch, which goes on by itself. */
  readonly onTrouble: (error: FirstlightError) => void;
}

export class ApiTokenIssuer implements TokenIssuer {
  readonly #host: Host;
  readonly #options: ApiTokenIssuerOptions;
  readonly #end = new AbortController();
  readonly #following: Promise<void>;
  /** As the watch has them: tokens of firstlight and others, expired ones too. */
  #secrets: readonly KubernetesObject[] = [];
  readonly #read = new WeakMap<KubernetesObject, WholeToken>();
  #known: { readonly of: readonly KubernetesObject[]; readonly tokens: ReadonlyMap<string, WholeToken> } | undefined;
  #quota: { readonly counts: TokenQuota; readonly atMs: number } | undefined;
  readonly #young = new Set<YoungToken>();

  constructor(host: Host, options: ApiTokenIssuerOptions) {
    this.#host = host;
    this.#options = options;
    this.#following = this.#follow();
  }

  async issue(request: IssueRequest): Promise<Issued> {
    const { clock } = this.#host;
    const { pool, issuedTo } = request;
    const quota = this.#currentQuota();
    const limit = quota.reached(request);
    if (limit !== undefined) return { status: 'too-many', limit };
    const own: YoungToken = { pool, issuedTo, id: undefined, untilMs: clock.monotonicMs() + youngMs };
    this.#young.add(own);
    quota.add(own);
    try {
      const address = issuedTo === undefined ? {} : { address: issuedTo };
      const { id, token } = await this.#create({ pool, now: clock.now(), ...address });
      own.id = id;
      return { id, token: token.reveal() };
    } catch (error) {
      this.#young.delete(own);
      throw error;
    }
  }

  /** Of the tokens in the watch, and of those of this server that are not there yet. */
  #currentQuota(): TokenQuota {
    const nowMs = this.#host.clock.monotonicMs();
    if (this.#quota !== undefined && nowMs - this.#quota.atMs < recountMs) return this.#quota.counts;
    const counts = new TokenQuota(this.#options.limit);
    const tokens = this.#tokens();
    const now = this.#host.clock.now();
    for (const { pool, issuedToAddress, expiresAt } of tokens.values()) {
      if (expiresAt > now) counts.add({ pool, issuedTo: issuedToAddress });
    }
    for (const own of this.#young) {
      if (own.untilMs < nowMs || (own.id !== undefined && tokens.has(own.id))) this.#young.delete(own);
      else counts.add(own);
    }
    this.#quota = { counts, atMs: nowMs };
    return counts;
  }

  async check(request: KeysRequest, mayLookUp: () => boolean): Promise<KeysVerdict> {
    const watched = this.#tokens().get(tokenId(request.token));
    // A token that another server issued a moment ago may not have arrived in the watch.
    const isNew = watched === undefined && isBootstrapToken(request.token) && mayLookUp();
    const token = isNew ? await this.#find(request) : watched;
    return judgeKeysRequest(knownToken(token), request, this.#host.clock.now());
  }

  async redeem(request: KeysRequest): Promise<KeysVerdict> {
    const { client } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.#find(request);
      const now = this.#host.clock.now();
      const found = judgeKeysRequest(knownToken(token), request, now);
      if (token === undefined || found.status === 'refused') return found;
      const recipient = await this.#recipient(request, token);
      if (recipient.status === 'refused') return recipient;
      const machine = recipient.machine === undefined ? {} : { machine: recipient.machine };
      if (found.isRepeated) return { ...found, ...machine };
      const given = { at: now, to: digestToken(request.redemption) };
      if (await recordKeysGiven(client, token, { given, deadlineMs: callMs })) {
        await this.#announce({ tokenId: token.id, at: now, ...machine }, request);
        return { ...found, ...machine };
      }
      // It changed between reading and writing: by the approver of its certificate, or by another config server.
      if (attempt === attempts) throw new Error(`the token ${token.id} was changed by others ${attempts} times`);
    }
  }

  async #recipient(request: KeysRequest, { used, issuedToAddress }: WholeToken): Promise<KeysRecipient> {
    const { client } = this.#options;
    const options = { deadlineMs: callMs };
    const [configMap, nodes] = await Promise.all([
      client.find(inventoryConfigMap, options),
      client.list(nodeKind, {}, options),
    ]);
    const data = (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
    // One that is not there, or cannot be read, names nobody.
    const inventory = readInventory(data[inventoryKey]) ?? { isClosed: true, machines: [] };
    const asked = { ...request, issuedTo: issuedToAddress, usedBy: used?.by };
    return keysRecipient(asked, { inventory, nodes: nodes.items.map(knownNode) });
  }

  /** The keys are recorded as given already: an API that takes no Event must not keep them from the machine. */
  async #announce(announcement: KeysAnnouncement, { address }: KeysRequest): Promise<void> {
    const { client, onTrouble } = this.#options;
    const whole = { ...announcement, ...(address === undefined ? {} : { address }) };
    await announceKeysGiven(client, whole, { deadlineMs: announceMs }).catch((error: unknown) => {
      if (!(error instanceof FirstlightError)) throw error;
      onTrouble(error);
    });
  }

  outstanding(): number {
    const now = this.#host.clock.now();
    return [...this.#tokens().values()].filter(({ expiresAt }) => expiresAt > now).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the issuer of tokens has ended'));
    await this.#following;
  }

  /** Those of the watch, by id; an object is read once. */
  #tokens(): ReadonlyMap<string, WholeToken> {
    if (this.#known?.of === this.#secrets) return this.#known.tokens;
    const tokens = new Map<string, WholeToken>();
    for (const secret of this.#secrets) {
      const token = this.#read.get(secret) ?? readWholeToken(secret);
      if (token === undefined) continue;
      this.#read.set(secret, token);
      tokens.set(token.id, token);
    }
    this.#known = { of: this.#secrets, tokens };
    return tokens;
  }

  /** Does not ask the API about a text that cannot be a token. */
  async #find({ token }: KeysRequest): Promise<WholeToken | undefined> {
    if (!isBootstrapToken(token)) return undefined;
    return findWholeToken(this.#options.client, tokenId(token), { deadlineMs: callMs });
  }

  async #create(asked: { readonly pool: string; readonly now: Date; readonly address?: string }): Promise<IssuedToken> {
    const { random } = this.#host;
    const { client } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await issueBootstrapToken(client, { ...asked, random, deadlineMs: callMs });
      } catch (error) {
        // Two random ids of six letters can be equal.
        if (!isError(error, kubernetesErrors.ALREADY_EXISTS) || attempt === attempts) throw error;
      }
    }
  }

  async #follow(): Promise<void> {
    const { client, onTrouble } = this.#options;
    const { signal } = this.#end;
    const watching = { client, host: this.#host, kind: secretKind, selection: tokenSelection, signal, onTrouble };
    try {
      for await (const secrets of watchObjects(watching)) this.#secrets = secrets;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** As the ledger of a bootstrap machine keeps it, so that one function judges both. */
function knownToken(whole: WholeToken | undefined): KnownToken | undefined {
  if (whole === undefined) return undefined;
  const { pool, expiresAt, keysGiven } = whole;
  return {
    token: whole.token.reveal(),
    pool,
    expiresAtMs: expiresAt.getTime(),
    issuedTo: whole.issuedToAddress,
    keysGiven: keysGiven === undefined ? undefined : { atMs: keysGiven.at.getTime(), redemption: keysGiven.to },
  };
}
