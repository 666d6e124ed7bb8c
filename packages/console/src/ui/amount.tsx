/** An amount as the server gave it, exact to the last digit: never rounded, its currency beside it. */
export function formatAmount(amount: string, currency: string): string {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const kept = fraction.replace(/0+$/, '').padEnd(2, '0')
  return `${amount.startsWith('-') ? '−' : ''}${grouped}.${kept} ${currency}`
}

export function Amount({ amount, currency }: { readonly amount: string; readonly currency: string }) {
  return <span className="whitespace-nowrap text-money">{formatAmount(amount, currency)}</span>
}
