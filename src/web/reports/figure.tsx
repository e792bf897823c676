import type { ComponentChildren } from 'preact'

export const Figure = ({ name, value }: { name: string; value: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
