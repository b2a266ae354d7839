"""The first table."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Orders."""

    initial = True
    operations = (
        migrations.CreateModel(
            "Order",
            [
                ("id", models.BigAutoField(primary_key=True)),
                ("email", models.EmailField(max_length=254)),
                ("cents", models.IntegerField()),
                ("receipt_sent_at", models.DateTimeField(null=True)),
            ],
        ),
    )
