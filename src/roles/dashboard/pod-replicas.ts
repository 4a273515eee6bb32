/**
 * Replicas in the pods of a cluster, asked by `kubectl exec` with the rights of the caller.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ControlRequest, readReply } from '../../observe/control/protocol.ts';
import type { FindReplicas, ShownReplica } from '../../server/dashboard/replica.ts';

export interface PodPlace {
  readonly namespace: string;
  /** Of labels, as in `k8s-app=kube-dns`. */
  readonly selector: string;
  /** Undefined: the first one. */
  readonly container: string | undefined;
  /** Of the kubeconfig; undefined: the current one. */
  readonly context: string | undefined;
}

/** Characters that a line of a reply, and a reason for a failure, may have. */
const MAX_LINE = 4_000_000;
const MAX_REASON = 500;
const RUNNING_PODS = '{range .items[*]}{.metadata.name}{"\\n"}{end}';

/** @param command `kubectl`, or a program that takes its arguments */
export function findPods(place: PodPlace, command = 'kubectl'): FindReplicas {
  const { namespace, selector } = place;
  return async (signal) => {
    const words = ['get', 'pods', '--selector', selector, '--field-selector', 'status.phase=Running'];
    const names: string[] = [];
    const found = linesOf(
      command,
      [...scopeOf(place), ...words, '--output', `jsonpath=${RUNNING_PODS}`],
      signal,
    );
    for await (const line of found) if (line !== '') names.push(line);
    if (names.length === 0)
      throw new Error(`no pod runs in ${namespace} with ${selector}. Set --namespace and --selector.`);
    return names.sort().map((name) => podReplica(name, place, command));
  };
}

function podReplica(name: string, place: PodPlace, command: string): ShownReplica {
  const { container } = place;
  return {
    name,
    async *ask({ verb, words }: ControlRequest, signal) {
      const of = container === undefined ? [] : ['--container', container];
      // Behind the dashes no word is taken for a flag.
      const control = ['portolan', 'control', '--output=json', '--', verb, ...words];
      for await (const line of linesOf(
        command,
        [...scopeOf(place), 'exec', name, ...of, '--', ...control],
        signal,
      )) {
        const reply = readReply(`{"data":${line}}`);
        if (reply.kind === 'data') yield reply.data;
      }
    },
  };
}

function scopeOf({ namespace, context }: PodPlace): readonly string[] {
  return [...(context === undefined ? [] : ['--context', context]), '--namespace', namespace];
}

/** The lines that a program prints. @throws Error with what it printed to standard error, if it fails */
async function* linesOf(
  command: string,
  words: readonly string[],
  signal: AbortSignal,
): AsyncIterable<string> {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  // `closed` rejects for the first error, and the reader of the output learns its own from the state of the stream.
  for (const emitter of [child, child.stdout, child.stderr]) emitter.on('error', () => {});
  const end = () => void child.kill();
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-MAX_REASON);
  });
  const closed = once(child, 'close');
  // Awaited below; before that, a failure must not be unhandled.
  closed.catch(() => {});
  try {
    let text = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      text += String(chunk);
      if (text.length > MAX_LINE) throw new Error(`${command}: a line of the reply is too long`);
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      yield* lines;
    }
    const [code] = (await closed) as [number | null];
    if (code !== 0 && !signal.aborted)
      throw new Error(`${command}: ${complaint.trim().split('\n').at(-1) || `it ended with ${code}`}`);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}
