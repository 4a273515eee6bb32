/**
 * The outcome of a forwarded question.
 */
import { EXTENDED_ERROR, type ExtendedErrorCode } from '@portolan/dns/extended-error.ts';
import type { Message } from '@portolan/dns/types.ts';

export type FailureReason =
  /** All servers failed to reply in time. */
  | 'timeout'
  /** All servers were unreachable. */
  | 'network'
  /** All servers answered with response codes that no client has asked for, such as BADVERS. */
  | 'unusable'
  /** The aliases in the reply lead back to one of themselves. */
  | 'alias-loop'
  /** Its client asks over TCP, but the servers send a truncated reply without records, and none over TCP. */
  | 'truncated'
  /** All servers for it are down; another question tests them. */
  | 'down'
  /** All servers send our queries back to us. */
  | 'loop'
  /** There is no rule with a server for it, or the names of its servers have no addresses. */
  | 'no-upstream'
  /** Too many questions are in flight or waiting. */
  | 'overloaded'
  /** Its rule is local-only. */
  | 'local-only'
  /** The forwarder was stopped. */
  | 'stopped';

export interface ForwardFailure {
  readonly kind: 'failed';
  readonly reason: FailureReason;
  readonly detail: string;
}

/** What clients are told about a failure; undefined: nothing. */
export function extendedErrorOfFailure(reason: FailureReason): ExtendedErrorCode | undefined {
  switch (reason) {
    case 'network':
    case 'truncated':
      return EXTENDED_ERROR.NETWORK_ERROR;
    case 'timeout':
    case 'unusable':
    case 'down':
    case 'loop':
      return EXTENDED_ERROR.NO_REACHABLE_AUTHORITY;
    case 'alias-loop':
      return EXTENDED_ERROR.OTHER;
    default:
      return undefined;
  }
}

export type ForwardReply =
  | {
      readonly kind: 'reply';
      /** Only with records that belong to the question. Its id has no meaning. */
      readonly message: Message;
      readonly upstream: string;
      /** From sending the question to the reply, in milliseconds. */
      readonly milliseconds: number;
    }
  | ForwardFailure;

export const STOPPED = failed('stopped', 'the forwarder was stopped');
export const OVERLOADED = failed('overloaded', 'too many questions are under way');

export function failed(reason: FailureReason, detail: string): ForwardFailure {
  return { kind: 'failed', reason, detail };
}
