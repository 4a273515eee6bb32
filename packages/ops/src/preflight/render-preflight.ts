/**
 * The report of a preflight, for people.
 */
import type { Paint } from '@portolan/server/reasons/render-explanation.ts';
import type { PreflightFinding, PreflightReport } from './finding.ts';

const HEADS = { first: 'FIRST', risk: 'RISK', note: 'note' } as const;

export function renderPreflight(report: PreflightReport, paint: Paint): string {
  const { workload, images, dialect, plugins, findings, checked, notChecked, go } = report;
  const named = Object.keys(plugins);
  const well = checked.filter(
    (check) => !findings.some((each) => each.check === check && each.severity !== 'note'),
  );
  const first = findings.filter(({ severity }) => severity === 'first').length;
  const lines = [
    `${workload}: ${Object.entries(images)
      .map(([container, image]) => `${container}=${image}`)
      .join(', ')}`,
    `dialect ${dialect}, which stays`,
    ...(named.length === 0 ? [] : [`plugins ${named.join(', ')}`]),
    ...Object.entries(report.arguments).map(
      ([container, words]) => `args    ${container}: ${words.join(' ')}`,
    ),
    '',
    ...findings.flatMap((finding) => renderFinding(finding, paint)),
    `${paint('good', 'ok')}           ${well.length} checks${well.length === 0 ? '' : `: ${well.join(', ')}`}`,
    ...notChecked.map(({ check, reason }) => `not checked  ${check}: ${reason}`),
    '',
    go ? paint('good', 'GO') : `${paint('bad', 'NOT YET')}: ${first} to do first`,
  ];
  return `${lines.join('\n')}\n`;
}

function renderFinding(
  { severity, check, sentence, remedies }: PreflightFinding,
  paint: Paint,
): readonly string[] {
  const word = HEADS[severity].padEnd(5);
  const head = severity === 'first' ? paint('bad', word) : word;
  return [
    `${head}  ${check.padEnd(13)}  ${sentence}`,
    ...remedies.flatMap(({ sentence: what, command }) => [
      `       do  ${what}`,
      ...(command === undefined ? [] : [`           ${command}`]),
    ]),
    ...(remedies.length === 0 ? [] : ['']),
  ];
}
