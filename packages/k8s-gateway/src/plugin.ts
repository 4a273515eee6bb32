/**
 * `k8s_gateway`: names of what clients outside a cluster reach: Ingresses, Services, routes of the Gateway API, DNSEndpoints.
 *
 * Source: k8s-gateway/k8s_gateway 1.x.
 */
import { definePlugin, namesWithin } from '@portolan/plugin';
import { Gateway } from './gateway.ts';
import { type GatewayOptions, readOptions } from './options.ts';

export default definePlugin({
  name: 'k8s_gateway',
  before: 'kubernetes',
  syntax: [
    [
      'k8s_gateway [ZONES…] {',
      '    resources RESOURCES…',
      '    ingressClasses CLASSES…',
      '    gatewayClasses CLASSES…',
      '    serviceLabelSelectors SELECTORS…',
      '    nodeAddressType InternalIP|ExternalIP',
      '    ttl SECONDS',
      '    apex NAME',
      '    secondary NAME',
      '    kubeconfig FILE [CONTEXT]',
      '    fallthrough [ZONES…]',
      '}',
    ].join('\n'),
  ],
  examples: [
    'k8s_gateway example.org',
    'k8s_gateway a.test b.test {\n  resources HTTPRoute Ingress Service DNSEndpoint\n  ttl 30\n  secondary dns2.kube-system\n  fallthrough\n}',
  ],
  read: (cursor, block): GatewayOptions => cursor.whole((uses) => readOptions(uses, block)),
  create(options, context) {
    const gateway = new Gateway(options, context);
    return {
      handler: {
        name: 'k8s_gateway',
        role: 'other',
        questions: namesWithin(new Set(options.zones)),
        answers: 'unchanged',
        handle: (query, next) => gateway.handle(query, next),
      },
      start: () => gateway.start(),
      proceed: () => gateway.proceed(),
      isReady: () => gateway.isListed,
      stop: () => gateway.stop(),
    };
  },
});
