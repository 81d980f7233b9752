// What a platform decides before there is any machine: assets and bootkube need it and know only the install-config.
// Apart from choose-platform.ts, because a bootstrap machine must not load the code that makes machines.

export interface PlatformTraits {
  /** Firstlight makes the machines and gives them names and addresses; otherwise the user lists them under `hosts`. */
  readonly makesMachines: boolean;
  /** Machines have the kernel and the disk of the host that makes them: neither is theirs to configure. */
  readonly sharesHost: boolean;
  /** Which address of the machine network is the platform's load balancer; absent where the user brings one. */
  readonly balancerOffset?: number;
  /** More than the time in which the load balancer notices that an API server is about to stop. */
  readonly balancerNoticesSeconds: number;
}

export const localTraits = {
  makesMachines: true,
  sharesHost: true,
  balancerOffset: 1,
  // The health checks of our load balancer need up to one and a half seconds: they allow for a busy machine.
  balancerNoticesSeconds: 2,
} as const satisfies PlatformTraits;

const noneTraits: PlatformTraits = {
  makesMachines: false,
  sharesHost: false,
  // How often the user's load balancer checks is not known.
  balancerNoticesSeconds: 20,
};

export function platformTraits(section: PlatformSection): PlatformTraits {
  return rowOfPlatform({ local: localTraits, none: noneTraits }, section);
}

/** The `platform` section of install-config.yaml and metadata.json: its key names the platform. */
export type PlatformSection = Readonly<Record<string, unknown>>;

type PlatformKey = 'local' | 'none';

/** The row of the platform that the section names; `local` where it names none. */
export function rowOfPlatform<Row>(rows: Readonly<Record<PlatformKey, Row>>, section: PlatformSection): Row {
  const keys = Object.keys(rows) as PlatformKey[];
  return rows[keys.find((key) => section[key] !== undefined) ?? 'local'];
}
