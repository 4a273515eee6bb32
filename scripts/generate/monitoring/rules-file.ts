/**
 * The rules of Prometheus and the runbook pages, from the list of alerts.
 */
import { stringify } from 'yaml';
import { ALERTS, type Alert, RECORDING_RULES } from './alerts.ts';

/** Where the runbook pages are, from the root of the package. */
export const RUNBOOK_FOLDER = 'docs/runbooks';

/** For `rule_files` of Prometheus, and for the chart. */
export function rulesFile(): string {
  const rules = [
    ...RECORDING_RULES.map(({ record, expression }) => ({ record, expr: expression })),
    ...ALERTS.map(({ name, expression, after, severity, summary, meaning }) => ({
      alert: name,
      expr: expression,
      for: after,
      labels: { severity },
      annotations: { summary, description: meaning, runbook: `${RUNBOOK_FOLDER}/${name}.md` },
    })),
  ];
  const comment = '# Made from scripts/generate/monitoring/alerts.ts by `npm run docs`.\n';
  return comment + stringify({ groups: [{ name: 'portolan', rules }] }, { lineWidth: 0 });
}

/** Prints the metrics that a pattern selects, with the Node.js of the image, which has no shell. @param url of the metrics */
export function metricsScript(url: string, pattern: string): string {
  const filter = `(line) => /${pattern}/.test(line)`;
  return `fetch("${url}").then((r) => r.text()).then((t) => console.log(t.split("\\n").filter(${filter}).join("\\n")))`;
}

export function runbookPage(alert: Alert): string {
  const { name, severity, after, meaning, expression, causes, remedies } = alert;
  return [
    `# ${name}`,
    '',
    `${meaning} Severity: ${severity}${after === '0m' ? '' : `, after ${after}`}.`,
    '',
    '## Look',
    '',
    '<!-- not run: it needs a cluster -->',
    '',
    '```sh',
    ...(alert.ofNodes === true ? linesForNodes(alert) : linesForServers(alert)),
    '',
    '## Possible causes',
    '',
    ...causes.map((cause) => `- ${cause}`),
    '',
    '## What to do',
    '',
    ...remedies.map((remedy) => `- ${remedy}`),
    '',
    '## Expression',
    '',
    '```',
    expression,
    '```',
    '',
  ].join('\n');
}

function linesForServers({ shows }: Alert): readonly string[] {
  return [
    `kubectl -n kube-system exec deployment/coredns -- node -e '${metricsScript('http://127.0.0.1:9153/metrics', shows)}'`,
    'kubectl -n kube-system logs -l k8s-app=kube-dns --all-containers --since=1h --prefix',
    '```',
    '',
    '[Other servers, and the readiness page](README.md#read-a-pod)',
  ];
}

/** NODE is the name of the node that the alert names. */
function linesForNodes({ shows }: Alert): readonly string[] {
  const pod = `POD=$(kubectl -n kube-system get pods -l k8s-app=node-local-dns --field-selector spec.nodeName=NODE -o name)`;
  return [
    pod,
    `kubectl -n kube-system exec $POD -- node -e '${metricsScript('http://127.0.0.1:9353/metrics', shows)}'`,
    'kubectl -n kube-system logs $POD --since=1h',
    '```',
    '',
    'NODE is the name of the node. The text of the health page of a pod gives the reason too.',
  ];
}

/** The table of all alerts, and what their pages have in common. */
export function runbookIndex(): string {
  const rows = ALERTS.map(
    ({ name, severity, meaning }) => `| [${name}](${name}.md) | ${severity} | ${meaning} |`,
  );
  return [
    '# Runbooks',
    '',
    'The alerts of [`portolan.rules.yaml`](../../deploy/chart/rules/portolan.rules.yaml), each with what to look at and what to do.',
    '',
    '| alert | severity | meaning |',
    '|---|---|---|',
    ...rows,
    '',
    '## Read a pod',
    '',
    'The image has no shell; Node.js prints the metrics of a pod. The commands of the pages ask the Deployment `coredns` at port 9153. With',
    '`portolan serve`, the Deployment is `kube-dns` and the port 8081. The readiness page, `/ready` at port 8181 or `/readyz` at port 8081 with',
    '`portolan serve`, says why a pod is not ready.',
    '',
  ].join('\n');
}
