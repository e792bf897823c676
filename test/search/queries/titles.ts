import { answer, type Scene } from '../corpus/planted.ts'

/** Only the title of the chat is remembered. */
export const titles: readonly Scene[] = [
  {
    docs: {
      chat: { text: 'It drops packets when two of them meet.', title: 'Carousel of the baggage belt' },
      near: { text: 'And this one?', title: 'Carousel of the landing page' },
      mention: answer('The baggage belt has a plan, but no carousel.'),
    },
    asks: [
      { q: 'carousel baggage belt', want: 'chat', isOfChat: true },
      { q: 'in:title carousel baggage', want: 'chat', never: 'mention', isOfChat: true },
    ],
  },
  {
    docs: {
      chat: { text: 'Where do I begin?', title: 'Replace moment with Temporal in the timetable' },
      near: { text: 'Not now.', title: 'Replace lodash in the timetable' },
      far: answer('The timetable has a moment of its own.'),
    },
    asks: [
      { q: 'moment Temporal timetable', want: 'chat', isOfChat: true },
      { q: '"replace moment"', want: 'chat', isOfChat: true },
    ],
  },
  {
    docs: {
      chat: { text: 'Jede Nacht um drei.', title: 'Nächtlicher Abgleich der Lagerbestände' },
      near: { text: 'Wer macht das?', title: 'Abgleich der Kontonummern' },
    },
    asks: [
      { q: 'Abgleich Lagerbestände', want: 'chat', isOfChat: true },
      { q: 'lagerbestande', want: 'chat', isOfChat: true },
    ],
  },
  {
    docs: {
      chat: { text: '看看这个。', title: '修复优惠券叠加的问题' },
      near: { text: '再看看。', title: '优惠活动的叠放层级' },
    },
    asks: [
      { q: '优惠券叠加', want: 'chat', isOfChat: true },
      { q: '优惠券', want: 'chat', never: 'near', isOfChat: true },
    ],
  },
  {
    docs: {
      chat: { text: 'See the log.', title: 'useTurnstileGate fires before hydration' },
      near: { text: 'No log.', title: 'useTurnstile fires late' },
    },
    asks: [
      { q: 'turnstile_gate', want: 'chat', never: 'near', isOfChat: true },
      { q: 'TurnstileGate hydration', want: 'chat', never: 'near', isOfChat: true },
    ],
  },
  {
    docs: {
      chat: { text: 'Why is that?', title: 'Flamingo release checklist' },
      inText: answer('The flamingo release needs a checklist of its own, says the flamingo team.'),
      near: { text: 'Later.', title: 'Flamingo rollback' },
    },
    asks: [
      { q: 'flamingo release checklist', want: 'chat inText', isOfChat: true },
      { q: 'in:title flamingo', want: 'chat near', never: 'inText', isOfChat: true },
    ],
  },
]
