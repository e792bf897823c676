import { answer, code, type Scene } from '../corpus/planted.ts'

/** One or two typos. Either the document is found, or the first suggestion is the right word. */
export const typos: readonly Scene[] = [
  {
    docs: {
      one: 'The chrysanthemum theme breaks the contrast check.',
      two: answer('chrysanthemum uses a grey that is too light.'),
      near: 'The hydrangea theme passes.',
    },
    asks: [
      { q: 'chrysanthamum', want: 'one two', spelling: 'chrysanthemum' },
      { q: 'crysanthemum', want: 'one two', spelling: 'chrysanthemum' },
      { q: 'chrysantehmum theme', want: 'one', spelling: 'chrysanthemum' },
    ],
  },
  {
    docs: {
      one: 'The idempotency key is dropped by the proxy.',
      two: answer('Send the idempotency key as a header.'),
      near: 'The identity key is kept.',
    },
    asks: [
      { q: 'idempotancy', want: 'one two', spelling: 'idempotency' },
      { q: 'idemptoency key', want: 'one two', spelling: 'idempotency' },
      { q: 'idmpotency', want: 'one two', spelling: 'idempotency' },
    ],
  },
  {
    docs: {
      one: code('ts', 'src/bus/subscriber.ts', 'export class HeartbeatSubscriber {}'),
      two: answer('The HeartbeatSubscriber misses the first beat.'),
      near: 'HeartRateSubscriber belongs to the watch.',
    },
    asks: [
      { q: 'HeartbeatSubscirber', want: 'one two', spelling: 'subscriber' },
      { q: 'hearbeatSubscriber', want: 'one two', spelling: 'heartbeat' },
    ],
  },
  {
    docs: {
      one: 'Quaternion interpolation flips at half a turn.',
      two: answer('Normalise the quaternion before you blend.'),
      near: 'The quarter view has no rotation.',
    },
    asks: [
      { q: 'quaternoin', want: 'one two', spelling: 'quaternion' },
      { q: 'quarternion', want: 'one two', spelling: 'quaternion' },
      { q: 'quatermion blend', want: 'two', spelling: 'quaternion' },
    ],
  },
  {
    docs: {
      one: 'kubelet evicts the marmalade pods first.',
      two: answer('The marmalade pods have no priority class.'),
      near: 'The marble pods are fine.',
    },
    asks: [
      { q: 'marmelade', want: 'one two', spelling: 'marmalade' },
      { q: 'mramalade pods', want: 'one two', spelling: 'marmalade' },
    ],
  },
  {
    docs: {
      one: 'Die Zwischensumme stimmt nicht mit den Posten überein.',
      two: answer('Die Zwischensumme wird vor dem Rabatt gebildet.'),
      near: 'Die Endsumme stimmt.',
    },
    asks: [
      { q: 'Zwischensume', want: 'one two', spelling: 'zwischensumme' },
      { q: 'Zwishcensumme', want: 'one two', spelling: 'zwischensumme' },
    ],
  },
  {
    docs: {
      one: 'Does the Lighthouse audit count the paragliding video?',
      two: answer('The paragliding video is lazy now.'),
      near: 'The parachute video is eager.',
    },
    asks: [
      { q: 'paragilding', want: 'one two', spelling: 'paragliding' },
      { q: 'parragliding', want: 'one two', spelling: 'paragliding' },
    ],
  },
  {
    docs: {
      one: 'The Tyrannosaurus easter egg costs 300 kB.',
      two: answer('tyrannosaurus.glb is loaded on demand.'),
      near: 'The Triceratops was removed.',
    },
    asks: [
      { q: 'tyranosaurus', want: 'one two', spelling: 'tyrannosaurus' },
      { q: 'tyrannosaurs.glb', want: 'two', spelling: 'tyrannosaurus' },
    ],
  },
  {
    docs: {
      one: 'wireguardHandshakeTimeout is 5 s on the roof.',
      two: answer('I raised wireguard_handshake_timeout to 20.'),
      near: 'wirelessHandshake is older.',
    },
    asks: [
      { q: 'wiregaurdHandshakeTimeout', want: 'one two', spelling: 'wireguard' },
      { q: 'wireguard handshke timeout', want: 'one two', spelling: 'handshake' },
    ],
  },
  {
    docs: {
      one: 'Who wrote the Levenshtein part of the matcher?',
      two: answer('Levenshtein with a band of two is enough.'),
      near: 'Liechtenstein has its own VAT.',
    },
    asks: [
      { q: 'Levenstein', want: 'one two', spelling: 'levenshtein' },
      { q: 'Levenshtien', want: 'one two', spelling: 'levenshtein' },
    ],
  },
  {
    docs: {
      one: 'The kernel of the blur filter is too wide.',
      two: answer('A kernel of five is enough for the preview.'),
      near: 'The colonel in the sample data is wide as well.',
    },
    asks: [
      { q: 'kenrel', want: 'one two', spelling: 'kernel' },
      { q: 'kerenl blur', want: 'one', spelling: 'kernel' },
    ],
  },
  {
    docs: {
      one: 'The quorum is lost when the third node sleeps.',
      two: answer('With five nodes the quorum is three.'),
      near: 'The forum is closed.',
    },
    asks: [
      { q: 'qourum', want: 'one two', spelling: 'quorum' },
      { q: 'quroum nodes', want: 'two', spelling: 'quorum' },
    ],
  },
  {
    docs: {
      one: 'The glyph for the euro is cut off at the top.',
      two: answer('Each glyph has its own box.'),
      near: 'The graph is cut off as well.',
    },
    asks: [
      { q: 'gylph', want: 'one two', spelling: 'glyph' },
      { q: 'glpyh euro', want: 'one', spelling: 'glyph' },
    ],
  },
  {
    docs: {
      one: 'The ingress drops the trailing slash.',
      two: answer('Annotate the ingress, not the service.'),
      near: 'The egress rules are fine, the process is not.',
    },
    asks: [
      { q: 'ingerss', want: 'one two', spelling: 'ingress' },
      { q: 'inrgess slash', want: 'one', spelling: 'ingress' },
    ],
  },
  {
    docs: {
      one: code('py', 'nav/crumbs.py', 'def fetch_breadcrumb(page): ...'),
      two: 'fetchBreadcrumb is never awaited.',
      near: 'fetchBreadth is about the tree.',
    },
    asks: [
      { q: 'fetchBreadcrubm', want: 'one two', spelling: 'breadcrumb' },
      { q: 'fetch_braedcrumb', want: 'one two', spelling: 'breadcrumb' },
    ],
  },
  {
    docs: {
      one: code('go', 'store/replica.go', 'func promoteReplicaSet(id int) error { return nil }'),
      two: answer('promote_replica_set waits for the lease.'),
      near: 'promoteRelicSet is in the museum app.',
    },
    asks: [
      { q: 'promoteRepilcaSet', want: 'one two', spelling: 'replica' },
      { q: 'promte_replica_set', want: 'one two', spelling: 'promote' },
    ],
  },
]
