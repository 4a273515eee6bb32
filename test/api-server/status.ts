/**
 * The bodies of refusals of an API server: `Status` objects, with the recorded messages.
 */
import { formatResource, type Target } from './target.ts';

export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

interface StatusFields {
  readonly code: number;
  readonly message: string;
  readonly reason?: string;
  readonly details?: unknown;
  readonly metadata?: unknown;
}

export function statusBody(fields: StatusFields): Record<string, unknown> {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: fields.metadata ?? {},
    status: 'Failure',
    message: fields.message,
    ...(fields.reason === undefined ? {} : { reason: fields.reason }),
    ...(fields.details === undefined ? {} : { details: fields.details }),
    code: fields.code,
  };
}

function refuse(fields: StatusFields, headers: Readonly<Record<string, string>> = {}): Refusal {
  return { status: fields.code, headers, body: statusBody(fields) };
}

export function unauthorized(): Refusal {
  return refuse({ code: 401, message: 'Unauthorized', reason: 'Unauthorized' });
}

export function forbidden(user: string, verb: string, target: Target): Refusal {
  const { plural, group, namespace, name } = target;
  const full = `${plural}${group === '' ? '' : `.${group}`}${name === '' ? '' : ` "${name}"`}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return refuse({
    code: 403,
    message: `${full} is forbidden: User "${user}" cannot ${verb} resource "${formatResource(target)}" in API group "${group}" ${scope}`,
    reason: 'Forbidden',
    details: { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: plural },
  });
}

export function notServed(): Refusal {
  return refuse({
    code: 404,
    message: 'the server could not find the requested resource',
    reason: 'NotFound',
    details: {},
  });
}

export function notFound(target: Target): Refusal {
  const { name, group, subresource } = target;
  const kind = formatResource(target);
  const full = subresource === '' || group === '' ? kind : `${kind}.${group}`;
  return refuse({
    code: 404,
    message: `${full} "${name}" not found`,
    reason: 'NotFound',
    details: { name, kind },
  });
}

/** The object has changed since the version that was sent. */
export function conflict({ plural, group, name }: Target): Refusal {
  const full = group === '' ? plural : `${plural}.${group}`;
  return refuse({
    code: 409,
    message: `Operation cannot be fulfilled on ${full} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    reason: 'Conflict',
    details: { name, ...(group === '' ? {} : { group }), kind: plural },
  });
}

export function expiredContinue(token: string): Refusal {
  return refuse({
    code: 410,
    message: 'The provided continue parameter is too old to display a consistent list result.',
    reason: 'Expired',
    metadata: { continue: token },
  });
}

export function expiredList(): Refusal {
  return refuse({
    code: 410,
    message: 'The resourceVersion for the provided list is too old.',
    reason: 'Expired',
  });
}

export function badVersion(text: string): Refusal {
  const value = JSON.stringify(text);
  return refuse({
    code: 500,
    message: `resourceVersion: Invalid value: ${value}: strconv.ParseUint: parsing ${value}: invalid syntax`,
  });
}

export function versionTooLarge(asked: number, current: number): Refusal {
  const details = {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  };
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return refuse({ code: 504, message, reason: 'Timeout', details }, { 'retry-after': '1' });
}

export function noInitialEvents(): Refusal {
  const causes = [
    'resourceVersionMatch is forbidden for watch',
    'resourceVersionMatch is forbidden unless resourceVersion is provided',
  ].map((text) => ({
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${text}`,
    field: 'resourceVersionMatch',
  }));
  const list = causes.map((cause) => `resourceVersionMatch: ${cause.message}`).join(', ');
  return refuse({
    code: 422,
    message: `ListOptions.meta.k8s.io "" is invalid: [${list}]`,
    reason: 'Invalid',
    details: { group: 'meta.k8s.io', kind: 'ListOptions', causes },
  });
}

export function alreadyExists(target: Target): Refusal {
  return refuse({
    code: 409,
    message: `${target.plural} "${target.name}" already exists`,
    reason: 'AlreadyExists',
    details: { name: target.name, kind: target.plural },
  });
}

export function badRequest(message: string): Refusal {
  return refuse({ code: 400, message, reason: 'BadRequest' });
}
