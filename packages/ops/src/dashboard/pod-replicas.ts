/**
 * Replicas in the pods of a cluster, asked by `kubectl exec` with the rights of the caller.
 */
import { once } from 'node:events';
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import { killGroup } from '@portolan/kernel/base/process-group.ts';
import { lastLines, startProgram } from '@portolan/kernel/base/run-program.ts';
import { type ControlRequest, readReply } from '@portolan/server/observe/control/protocol.ts';
import type { FindReplicas, ShownReplica } from './replica.ts';

export interface PodPlace {
  readonly namespace: string;
  /** Of labels, as in `k8s-app=kube-dns`. */
  readonly selector: string;
  /** Undefined: the first one. */
  readonly container: string | undefined;
  /** Of the kubeconfig; undefined: the current one. */
  readonly context: string | undefined;
}

/** Characters that a line of a reply may have, and those of standard error that are kept. */
const MAX_LINE = 4_000_000;
const MAX_COMPLAINT = 4_000;
/** Milliseconds until the first line of a reply: an API server may need as long to reach a node that is gone. */
const PATIENCE = 60_000;
/** Requests whose first line may be a long time in coming. */
const STREAMS: readonly ControlRequest['verb'][] = ['tail'];
const RUNNING_PODS = '{range .items[*]}{.metadata.name}{"\\n"}{end}';

/** A program that takes the arguments of `kubectl`. */
interface Kubectl {
  readonly command: string;
  readonly clock: Clock;
}

/** @param kubectl the program, and the clock for its time */
export function findPods(
  place: PodPlace,
  kubectl: Kubectl = { command: 'kubectl', clock: systemClock },
): FindReplicas {
  const { namespace, selector } = place;
  return async (signal) => {
    const words = ['get', 'pods', '--selector', selector, '--field-selector', 'status.phase=Running'];
    const names: string[] = [];
    const all = [...makeScopeFlags(place), ...words, '--output', `jsonpath=${RUNNING_PODS}`];
    const found = readLines(kubectl, all, { signal, patience: PATIENCE });
    for await (const line of found) if (line !== '') names.push(line);
    if (names.length === 0)
      throw new Error(`no pod runs in ${namespace} with ${selector}. Set --namespace and --selector.`);
    return names.sort().map((name) => podReplica(name, place, kubectl));
  };
}

function podReplica(name: string, place: PodPlace, kubectl: Kubectl): ShownReplica {
  const { container } = place;
  return {
    name,
    async *ask({ verb, words }: ControlRequest, signal) {
      const of = container === undefined ? [] : ['--container', container];
      // Behind the dashes no word is taken for a flag.
      const control = ['portolan', 'control', '--output=json', '--', verb, ...words];
      const all = [...makeScopeFlags(place), 'exec', name, ...of, '--', ...control];
      const patience = STREAMS.includes(verb) ? undefined : PATIENCE;
      for await (const line of readLines(kubectl, all, { signal, patience })) {
        const reply = readReply(`{"data":${line}}`);
        if (reply.kind === 'data') yield reply.data;
      }
    },
  };
}

function makeScopeFlags({ namespace, context }: PodPlace): readonly string[] {
  return [...(context === undefined ? [] : ['--context', context]), '--namespace', namespace];
}

interface Limits {
  readonly signal: AbortSignal;
  /** Milliseconds until its first line; undefined: without end. */
  readonly patience: number | undefined;
}

/**
 * The lines that a program prints. Its exit status says whether it has failed: it may warn on standard error.
 *
 * @throws Error with the end of standard error if it fails, and for a program that is missing or prints nothing in time
 */
async function* readLines(
  { command, clock }: Kubectl,
  words: readonly string[],
  { signal, patience }: Limits,
): AsyncIterable<string> {
  const child = startProgram(command, words, clock);
  child.stdin.end();
  let isLate = false;
  const end = () => {
    killGroup(child);
    // What it has started may have left the group, and hold the output open.
    child.stdout.destroy();
  };
  const timer =
    patience === undefined
      ? undefined
      : clock.after(patience, () => {
          isLate = true;
          end();
        });
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-MAX_COMPLAINT);
  });
  const closed = once(child, 'close');
  // Awaited below; before that, a failure must not be unhandled.
  closed.catch(() => {});
  try {
    for await (const line of splitLines(command, child.stdout.setEncoding('utf8'))) {
      timer?.cancel();
      yield line;
    }
    const [code] = (await closed) as [number | null];
    if (code !== 0) throw new Error(`${command}: ${lastLines(complaint) || `it ended with ${code}`}`);
  } catch (error) {
    if (isLate) throw new Error(`${command}: no answer within ${(patience ?? 0) / 1_000} s`);
    if (!signal.aborted) throw error;
  } finally {
    timer?.cancel();
    signal.removeEventListener('abort', end);
    end();
  }
}

async function* splitLines(command: string, output: AsyncIterable<unknown>): AsyncIterable<string> {
  let text = '';
  for await (const chunk of output) {
    text += String(chunk);
    if (text.length > MAX_LINE) throw new Error(`${command}: a line of the reply is too long`);
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
}
