/** Words that no generated text holds, one for each number. */
export const liveWord = (stem: string, index: number): string =>
  stem + String(index).replaceAll(/\d/g, (digit) => 'qwrtzpsdfg'.charAt(Number(digit)))
