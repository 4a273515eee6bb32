/**
 * An explanation as text: the verdict as a sentence, the walk, the evidence, and what to do. Words carry the meaning; colours repeat it.
 */
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { ExplainedStep, Explanation } from './explanation.ts';
import { EXPLANATION_VERSION } from './explanation.ts';

export type Paint = (style: 'good' | 'bad' | 'faint', text: string) => string;

export const PLAIN: Paint = (_, text) => text;

/** @returns lines, the last one ends with a newline */
export function renderExplanation(given: Explanation, paint: Paint = PLAIN): string {
  const explanation = withoutControls(given);
  const { verdict, steps, otherResolvers, upstreams, remedies, notChecked, question } = explanation;
  const isGood = verdict.outcome === 'resolves' && verdict.reason === undefined;
  const head = paint(isGood ? 'good' : 'bad', verdict.sentence);
  const shown = shownSteps(steps);
  const near = [
    ...new Set(steps.flatMap((step) => step.near ?? []).map((each) => `${each.service}.${each.namespace}`)),
  ];
  const rows: (readonly [string, string])[] = [
    ...(verdict.reason === undefined ? [] : [['reason', verdict.reason] as const]),
    ['client', describeClient(explanation)],
    ['walk', `${question.resolver}; ${question.types.join(' and ')}`],
    ...renderSteps(shown, paint).map((line) => ['', line] as const),
    ...otherResolvers.map(({ resolver, sentence }) => [resolver, sentence] as const),
    ...upstreams.map((upstream) => ['upstream', describeUpstream(upstream)] as const),
    ...(near.length > 0 && verdict.reason !== undefined
      ? [['near', near.slice(0, 5).join('  ')] as const]
      : []),
    ...remedies.flatMap(({ sentence, command }) => [
      ['do', sentence] as const,
      ...(command === undefined ? [] : [['', paint('good', command)] as const]),
    ]),
    ...notChecked.map((what) => ['not checked', what] as const),
  ];
  const lines = rows.map(([title, text]) => `  ${paint('faint', title.padEnd(11))} ${text}`.trimEnd());
  return `${[head, '', ...lines].join('\n')}\n`;
}

/**
 * Escapes control characters in all texts: objects of users are in them, such as the target of an ExternalName, and a terminal would obey.
 */
export function withoutControls<Value>(value: Value): Value {
  const copy = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'string' ? part.replaceAll(/\p{Cc}/gu, escapeControl) : part,
  );
  return JSON.parse(copy) as Value; // It came as JSON, or goes as it.
}

/** As in a zone file: `\\027`. */
function escapeControl(character: string): string {
  return `\\${String(character.codePointAt(0)).padStart(3, '0')}`;
}

/** Reads an explanation that a server sent. @throws TypeError if it is of another version */
export function checkExplanation(value: unknown): Explanation {
  const isOurs =
    typeof value === 'object' &&
    value !== null &&
    'apiVersion' in value &&
    value.apiVersion === EXPLANATION_VERSION;
  if (!isOurs) throw new TypeError('not an explanation of this version. Use the program of the server.');
  return value as unknown as Explanation; // The version fixes the form.
}

/** Equal answers of both address types take one line. */
function shownSteps(
  steps: readonly ExplainedStep[],
): readonly (ExplainedStep & { readonly types: string })[] {
  const shown: (ExplainedStep & { readonly types: string })[] = [];
  for (const step of steps) {
    const before = shown.at(-1);
    const isSame =
      before !== undefined &&
      before.name === step.name &&
      before.rcode === step.rcode &&
      before.outcome === step.outcome &&
      before.source === step.source &&
      step.records.length === 0 &&
      before.records.length === 0;
    if (isSame) shown.splice(-1, 1, { ...before, types: `${before.types}, ${step.type}` });
    else shown.push({ ...step, types: step.type });
  }
  return shown;
}

function renderSteps(
  steps: readonly (ExplainedStep & { readonly types: string })[],
  paint: Paint,
): readonly string[] {
  const width = Math.max(...steps.map(({ name }) => name.length), 0);
  const types = Math.max(...steps.map((step) => step.types.length), 0);
  return steps.map((step, index) => {
    const { name, isReached, records, sentence, outcome } = step;
    const rcode = outcome === 'nodata' ? 'NODATA' : (step.rcode ?? '-');
    const result = isReached
      ? paint(outcome === 'answer' ? 'good' : 'bad', rcode.padEnd(8))
      : rcode.padEnd(8);
    const end = records.length > 0 ? records.slice(0, 3).join('  ') : (sentence ?? '');
    const reached = isReached ? '' : paint('faint', '  (not reached)');
    return `${String(index + 1).padStart(2)}  ${name.padEnd(width)}  ${step.types.padEnd(types)}  ${result}  ${describeSource(step).padEnd(10)}  ${end}${reached}`.trimEnd();
  });
}

function describeSource({ source, plugin, servers, age, left }: ExplainedStep): string {
  switch (source) {
    case 'cache':
      return `cache (${age ?? 0} s old, ${left ?? 0} s left)`;
    case 'stale':
      return `stale (expired ${-(left ?? 0)} s ago)`;
    case 'not-asked':
      return `would be asked of ${(servers ?? []).join(', ')}`;
    case 'local':
      return plugin ?? 'local';
    case 'cluster':
    case 'upstream':
    case 'nothing':
      return source;
  }
}

function describeClient({ client }: Explanation): string {
  const { address, namespace, search, ndots, source } = client;
  const who =
    source === 'assumed' ? `as a pod of namespace ${namespace}` : (address ?? `namespace ${namespace}`);
  return `${who}; search ${search.length === 0 ? '(none)' : search.join(' ')}; ndots ${ndots}`;
}

function describeUpstream({
  server,
  state,
  stateAge,
  lastReplyAge,
}: Explanation['upstreams'][number]): string {
  const reply = lastReplyAge === undefined ? 'no reply yet' : `last reply ${formatElapsed(lastReplyAge)} ago`;
  return `${server}  ${state} for ${formatElapsed(stateAge)}, ${reply}`;
}
