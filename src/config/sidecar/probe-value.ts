/**
 * The value of `--probe`: `label,server,name[,interval[,type]]`.
 *
 *     kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV
 *     mydns,[::1]:53,example.com
 *     other,dns.example,example.com,10
 */
import { NameError, parseName } from '../../wire/name.ts';
import type { AbsoluteName } from '../../wire/types.ts';
import type { ValueReader } from '../values.ts';
import { PROBE_TYPES, type ProbePlan, SIDECAR_DEFAULTS } from './plan.ts';
import { readServer } from './server-place.ts';

const FLAG = '--probe';
const LABEL = /^[a-zA-Z0-9_]+$/;
const EXAMPLE = 'kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV';
const SECONDS = { least: 1, most: 86_400, of: 'a number of seconds' };

/** @returns nothing if it is wrong, and complained of by then */
export function readProbe(text: string, read: ValueReader): ProbePlan | undefined {
  const [label = '', serverText = '', nameText, interval, typeText, ...more] = text.split(',');
  if (nameText === undefined || more.length > 0) {
    const remedy = `Give label,server,name[,interval[,type]], as in ${EXAMPLE}.`;
    read.complain(FLAG, 'not three to five parts with commas between them', text, remedy);
    return undefined;
  }
  const before = read.problems.length;
  if (!LABEL.test(label))
    read.complain(`${FLAG}, its label`, 'not a label', label, 'Use letters, digits and underscores.');
  const server = readServer(`${FLAG}, its server`, serverText, read);
  const name = readName(nameText, read);
  const seconds = read.integer(`${FLAG}, its interval`, interval, SECONDS, 0);
  const type = readType(typeText, read);
  if (server === undefined || name === undefined || type === undefined) return undefined;
  if (read.problems.length > before) return undefined;
  const milliseconds = interval === undefined ? SIDECAR_DEFAULTS.probeInterval : seconds * 1_000;
  return { label, server, name, type, interval: milliseconds };
}

function readName(text: string, read: ValueReader): AbsoluteName | undefined {
  try {
    return parseName(text);
  } catch (error) {
    if (!(error instanceof NameError)) throw error;
    const remedy = 'Give one such as kubernetes.default.svc.cluster.local.';
    read.complain(`${FLAG}, its name`, 'not a domain name', text, remedy);
    return undefined;
  }
}

function readType(text: string | undefined, read: ValueReader): number | undefined {
  if (text === undefined) return SIDECAR_DEFAULTS.probeType;
  const type = Object.hasOwn(PROBE_TYPES, text) ? PROBE_TYPES[text] : undefined;
  if (type === undefined)
    read.complain(`${FLAG}, its type`, 'unknown', text, 'Give ANY, A, AAAA or SRV, in capitals.');
  return type;
}
