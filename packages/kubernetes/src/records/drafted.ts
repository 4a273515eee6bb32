/**
 * Objects that were decoded into a draft. They are valid only until the next object is decoded: sinks that keep objects must
 * not take them. Their other fields are read from the octets when they are asked for.
 */
import type { ServiceDraft, SliceDraft } from '@portolan/kernel/records/drafts.ts';
import type { EndpointsObject, ServiceObject } from '../objects/objects.ts';
import { trimEndpointSlice } from '../objects/trim/trim-endpoint-slice.ts';
import { trimService } from '../objects/trim/trim-service.ts';
import type { EncodedObject } from '../protobuf/encoded-object.ts';

export interface ObjectNames {
  readonly namespace: string;
  readonly name: string;
}

/** Decoder and reader disagree about an object, which is a defect. */
const differ = (): never => {
  throw new TypeError('an object that was decoded cannot be read');
};

export class DraftedService implements ServiceObject {
  readonly kind = 'Service';
  readonly namespace: string;
  readonly name: string;
  readonly draft: ServiceDraft;
  readonly #encoded: EncodedObject;

  constructor({ namespace, name }: ObjectNames, draft: ServiceDraft, encoded: EncodedObject) {
    this.namespace = namespace;
    this.name = name;
    this.draft = draft;
    this.#encoded = encoded;
  }

  get address(): ServiceObject['address'] {
    return this.#whole.address;
  }

  get ports(): ServiceObject['ports'] {
    return this.#whole.ports;
  }

  get selects(): boolean {
    return this.draft.selects;
  }

  get prefers(): ServiceObject['prefers'] {
    return this.#whole.prefers;
  }

  get external(): readonly string[] {
    return this.#whole.external ?? [];
  }

  get #whole(): ServiceObject {
    const trimmed = trimService(this.#encoded);
    return trimmed.kind === 'object' ? trimmed.object : differ();
  }
}

export class DraftedSlice implements EndpointsObject {
  readonly kind = 'Endpoints';
  readonly namespace: string;
  readonly name: string;
  readonly service: string;
  readonly changeTime: string | undefined;
  readonly draft: SliceDraft;
  readonly #encoded: EncodedObject;

  constructor(
    names: ObjectNames & { readonly service: string; readonly changeTime: string | undefined },
    draft: SliceDraft,
    encoded: EncodedObject,
  ) {
    this.namespace = names.namespace;
    this.name = names.name;
    this.service = names.service;
    this.changeTime = names.changeTime;
    this.draft = draft;
    this.#encoded = encoded;
  }

  get groups(): EndpointsObject['groups'] {
    const trimmed = trimEndpointSlice(this.#encoded);
    return trimmed.kind === 'object' ? trimmed.object.groups : differ();
  }
}
