/** A button on everything that can be copied. Part of every page's script, before its own code. */
const copyButtons = () => {
  // Browsers allow copying only on pages served over TLS.
  if (!navigator.clipboard) return;
  for (const box of document.querySelectorAll('.code')) {
    if (box.querySelector('button')) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(box.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1500);
    });
    box.append(button);
  }
};
copyButtons();
