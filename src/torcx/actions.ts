// The changes of a run as data: --dry-run prints exactly the list that a run carries out, in the same order.
export type ImageOrigin =
  /** A verified archive that is already on this node, in another store. */
  { readonly kind: 'copy'; readonly path: string } | { readonly kind: 'download'; readonly urls: readonly string[] };

export type TorcxAction =
  | {
      readonly kind: 'install-image';
      readonly osVersion: string;
      readonly name: string;
      readonly reference: string;
      readonly hash: string;
      readonly target: string;
      readonly origin: ImageOrigin;
    }
  | {
      readonly kind: 'use-profile';
      readonly profile: string;
      readonly isNew: boolean;
      readonly name: string;
      readonly reference: string;
    }
  /** The lists that were accepted, so that no older one is accepted later. */
  | { readonly kind: 'remember-lists'; readonly path: string; readonly content: string }
  | { readonly kind: 'clear-docker-data'; readonly because: string }
  | { readonly kind: 'write-kubelet-env'; readonly path: string; readonly content: string }
  | { readonly kind: 'reboot'; readonly because: string }
  | { readonly kind: 'remove-store'; readonly path: string }
  | { readonly kind: 'annotate-node'; readonly node: string; readonly annotation: string };

/** One line that describes the action to a person. */
export function describeAction(action: TorcxAction): string {
  switch (action.kind) {
    case 'install-image': {
      const from = action.origin.kind === 'copy' ? action.origin.path : (action.origin.urls[0] ?? '');
      return `put ${action.name} ${action.reference} into the store of OS ${action.osVersion}, from ${from}`;
    }
    case 'use-profile':
      return `${action.isNew ? 'make profile' : 'use profile'} ${action.profile} with ${action.name} ${action.reference} at the next boot`;
    case 'remember-lists':
      return `note in ${action.path} which package lists were accepted, so that no older one is`;
    case 'clear-docker-data':
      return `clear /var/lib/docker while the machine goes down: ${action.because}`;
    case 'write-kubelet-env':
      return `write ${action.path}, so that the kubelet starts`;
    case 'reboot':
      return `reboot: ${action.because}`;
    case 'remove-store':
      return `remove ${action.path}, which no OS on this node boots any more`;
    case 'annotate-node':
      return `annotate node ${action.node} with ${action.annotation}: "true"`;
  }
}
