/**
 * dnsmasq's exit codes (its manual page, EXIT CODES), which service managers and scripts look at.
 */
export const EXIT = {
  /** Started and went into the background, or ended as asked. */
  GOOD: 0,
  /** The configuration is wrong. */
  BAD_CONFIGURATION: 1,
  /** The network refused: an address in use, a port without permission. */
  BAD_NETWORK: 2,
  /** A file or folder is missing, or may not be used. */
  BAD_FILE: 3,
  /** No memory. */
  NO_MEMORY: 4,
  /** Anything else. */
  OTHER: 5,
  /**
   * Added to the exit code of a script for leases or configuration. Portolan runs neither, but tables of exit codes
   * should keep 11 and above for them.
   */
  OF_SCRIPT: 10,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What `--test` writes to standard error when all is well, before it exits with 0. */
export const SYNTAX_OK = 'dnsmasq: syntax check OK.';
