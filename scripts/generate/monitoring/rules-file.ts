/**
 * The rules of Prometheus and the runbook page, from the list of alerts.
 */
import { stringify } from 'yaml';
import { ALERTS, type Alert, RECORDING_RULES } from './alerts.ts';

/** The page with a section for each alert, from the root of the package. */
export const RUNBOOK_PAGE = 'docs/runbooks/README.md';

/** For `rule_files` of Prometheus, and for the chart. */
export function rulesFile(): string {
  const rules = [
    ...RECORDING_RULES.map(({ record, expression }) => ({ record, expr: expression })),
    ...ALERTS.map(({ name, expression, after, severity, summary, meaning }) => ({
      alert: name,
      expr: expression,
      for: after,
      labels: { severity },
      annotations: { summary, description: meaning, runbook: `${RUNBOOK_PAGE}#${name.toLowerCase()}` },
    })),
  ];
  const comment = '# Made from scripts/generate/monitoring/alerts.ts by `npm run docs`.\n';
  return comment + stringify({ groups: [{ name: 'portolan', rules }] }, { lineWidth: 0 });
}

/**
 * Prints the metrics of a port on loopback that a pattern selects, with the Node.js of the image, which has no shell. The two are its
 * arguments.
 */
export const METRICS_SCRIPT = [
  'const [, port, pattern] = process.argv',
  'const show = (text) => console.log(text.split("\\n").filter((line) => RegExp(pattern).test(line)).join("\\n"))',
  'fetch("http://127.0.0.1:" + port + "/metrics").then((response) => response.text()).then(show)',
].join('; ');

export function runbookPage(): string {
  return [
    '# Runbooks',
    '',
    'The alerts of [`portolan.rules.yaml`](../../deploy/chart/rules/portolan.rules.yaml).',
    '',
    '## Read a pod',
    '',
    '<!-- not run: it needs a cluster -->',
    '',
    '```sh',
    'POD=deployment/coredns PORT=9153    # portolan serve: deployment/kube-dns, 8081',
    `metrics() { kubectl -n kube-system exec $POD -- node -e '${METRICS_SCRIPT}' $PORT "$1"; }`,
    'kubectl -n kube-system logs -l k8s-app=kube-dns --all-containers --since=1h --prefix',
    '```',
    '',
    'The readiness page, `/ready` at port 8181 or `/readyz` at port 8081 with `portolan serve`, says why a pod is not ready.',
    '',
    ...ALERTS.flatMap(runbookSection),
  ].join('\n');
}

function runbookSection(alert: Alert): readonly string[] {
  const { name, severity, after, meaning, causes, shows, remedies } = alert;
  return [
    `## ${name}`,
    '',
    `${linkAlerts(meaning)} Severity: ${severity}${after === '0m' ? '' : `, after ${after}`}.`,
    '',
    ...(alert.ofNodes === true ? LINES_FOR_NODES : []),
    `    metrics '${shows}'`,
    '',
    ...listItems('Causes:', causes),
    ...listItems('Remedies:', remedies),
  ];
}

function listItems(title: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  return [title, '', ...items.map((item) => `- ${linkAlerts(item)}`), ''];
}

function linkAlerts(text: string): string {
  return text.replaceAll(/\bPortolan[A-Z]\w+/g, (name) => `[${name}](#${name.toLowerCase()})`);
}

const LINES_FOR_NODES = [
  '    NODE=worker-1 PORT=9353    # the node that the alert names',
  '    POD=$(kubectl -n kube-system get pods -l k8s-app=node-local-dns --field-selector spec.nodeName=$NODE -o name)',
];
