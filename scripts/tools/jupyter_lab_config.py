"""JupyterLab as the course starts it: no news, no update check, no extension manager online."""

# Jupyter puts get_config there.
c = get_config()

c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.news_url = None
c.LabApp.extension_manager = "readonly"
