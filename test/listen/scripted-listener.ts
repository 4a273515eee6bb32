/**
 * A TCP listener on loopback with scripted answers.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { listenOnTcp, type TcpListener, type TcpOptions } from '@portolan/kernel/listen/tcp.ts';
import { onTestFinished } from 'vitest';
import { answerAuthoritatively, ScriptedAnswers } from './scripted-answers.ts';

/** It stops when its test ends. */
export async function startTcp(changes: Partial<TcpOptions> = {}): Promise<TcpListener> {
  const listener = await listenOnTcp({
    addresses: [{ address: '127.0.0.1', port: 0 }],
    takeover: false,
    native: true,
    answers: new ScriptedAnswers(),
    handleQuery: async (query) => answerAuthoritatively(query),
    udpSize: 1232,
    clock: systemClock,
    log: silentLog,
    ...changes,
  });
  onTestFinished(() => listener.stop(0));
  return listener;
}
