// Addresses that the install-config and the platform must choose alike.

/** Where the machines of a local cluster have their addresses, unless the user says otherwise. */
export const defaultMachineNetwork = '10.99.0.0/24';
