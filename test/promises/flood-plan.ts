/**
 * What the threads of a flood and their test share.
 */

/** Words of the memory that a thread shares with the test. */
export const WORD = { STOP: 0, PORT: 1, SENT: 2, ANSWERED: 3, ASKED: 4, WORDS: 5 } as const;

/**
 * Questions of the other client that are recorded, and numbers for each: milliseconds of the server's processor time, and answers
 * of the flood before it.
 */
export const MAX_ASKED = 4096;
export const NUMBERS = 2;

export interface FloodPlan {
  /** The server's port and process. */
  readonly port: number;
  readonly pid: number;
  /** What follows the random label, without the last dot. */
  readonly domain: string;
  readonly type: 'A' | 'TXT';
  readonly perSecond: number;
  /** The domain of the other client, who asks one question at a time. */
  readonly otherDomain: string;
}

export interface ThreadData<Plan> {
  readonly plan: Plan;
  readonly words: SharedArrayBuffer;
  readonly asked: SharedArrayBuffer;
}
