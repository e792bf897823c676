import { numberText } from '../../terminal/formats.ts'

export const chatsDone = ({ done, total }: { readonly done: number; readonly total: number }): string =>
  `${numberText(done)} of ${numberText(total)} archived chats`
