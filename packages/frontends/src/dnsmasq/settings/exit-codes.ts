/**
 * dnsmasq's exit codes (manual page, EXIT CODES), which service managers and scripts check.
 */
export const EXIT = {
  /** Went into the background after start, or ended as requested. */
  GOOD: 0,
  /** The configuration is invalid. */
  BAD_CONFIGURATION: 1,
  /** Network error, such as an address in use or a port without permission. */
  BAD_NETWORK: 2,
  /** A file or folder is missing or inaccessible. */
  BAD_FILE: 3,
  /** Out of memory. */
  NO_MEMORY: 4,
  /** Other errors. */
  OTHER: 5,
  /**
   * Base of the exit codes of lease and configuration scripts. Portolan runs no such scripts; the constant reserves codes from 11 on.
   */
  OF_SCRIPT: 10,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What `--test` prints to standard error before it exits with 0. */
export const SYNTAX_OK = 'dnsmasq: syntax check OK.';
