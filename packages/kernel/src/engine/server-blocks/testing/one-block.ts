/**
 * A group of listeners with one block for all names, in the form of responses of our own front ends.
 */
import { ROOT } from '@portolan/dns/name.ts';
import { DEFAULT_UDP_SIZE } from '@portolan/dns/response-size.ts';
import type { Log } from '../../../base/log.ts';
import type { Chain } from '../../../chain/handler.ts';
import type { HandleQuery } from '../../../chain/query.ts';
import { type ResponseForm, toNativeForm } from '../../../chain/response-form.ts';
import { ListenerGroup } from '../listener-group.ts';

const OWN_FORM = toNativeForm({
  recursionAvailable: true,
  udpSize: DEFAULT_UDP_SIZE,
  extendedErrors: 'passed-on',
});

/** Answers packets by a chain. */
export function answerByChain(chain: Chain, log: Log, form: Partial<ResponseForm> = {}): HandleQuery {
  return new ListenerGroup({
    server: 'dns',
    sites: [{ zone: ROOT, chain, view: '' }],
    form: { ...OWN_FORM, ...form },
    servesOtherClasses: true,
    log,
  }).handleQuery;
}
